// custom_jvp: the function as it is, with a forward rule that its author gives. The backward rule
// is its transpose.
#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/custom_derivative.h"
#include "lockstep/trace/primitive.h"
#include "lockstep/trace/transform.h"
#include "lockstep/tree/algorithms.h"
#include "trace/batching.h"
#include "trace/control_flow/body.h"
#include "trace/custom_derivative/leafwise.h"
#include "trace/differentiation.h"
#include "trace/flat.h"
#include "trace/rule_support.h"
#include "trace/stretch.h"

namespace lockstep {
namespace {

// Arguments of the parts are leaves (the rule's: the leaves, then their tangents); the inputs after
// them are what the function captured.
class CustomJvp final : public Primitive {
 public:
  CustomJvp(TreeCustomJvp parts, BodyPtr body, std::size_t num_arguments, TreeStructure result)
      : parts_(std::move(parts)),
        body_(std::move(body)),
        num_arguments_(num_arguments),
        result_(std::move(result)) {}

  std::string_view name() const override { return parts_.name; }
  std::string attributes() const override { return fmt::format("body = {{\n{}}}", body_->text()); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, body_->parameters().size());
    return body_->results();
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue>,
                                 std::span<const AbstractValue>) const override {
    return body_->emit(builder, inputs);
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    for (std::size_t i = num_arguments_; i < request.inputs.size(); ++i) {
      if (!request.tangents[i].is_null()) throw_captured(request.inputs[i]);
    }
    return pushed(request.inputs, request.tangents);
  }

  // The rule is linear in the tangents, so its transpose is the same at any of them.
  std::vector<Array> vjp(const VjpRequest& request) const override {
    for (std::size_t i = num_arguments_; i < request.inputs.size(); ++i) {
      if (request.needed[i]) throw_captured(request.inputs[i]);
    }
    std::vector<Array> tangents;
    for (std::size_t i = 0; i < num_arguments_; ++i) {
      tangents.push_back(zeros_like(request.inputs[i]));
    }
    const FlatFunction rule = [&](std::span<const Array> at) { return pushed(request.inputs, at); };
    const std::vector<bool> needed(
        request.needed.begin(),
        request.needed.begin() + static_cast<std::ptrdiff_t>(num_arguments_));
    std::vector<Array> found = pull_back(rule, tangents, needed, request.cotangents);
    found.resize(request.inputs.size());
    return found;
  }

  std::vector<Array> batch(const BatchRequest& request) const override;

 private:
  [[noreturn]] void throw_captured(const Array& value) const {
    throw_value_error(name(), "it uses a value of the enclosing trace (" +
                                  to_string(value.abstract_value()) +
                                  ") that is differentiated, for which its rule has no tangent; "
                                  "pass that value as an argument");
  }

  // The tangents of the result by the rule.
  std::vector<Array> pushed(std::span<const Array> inputs, std::span<const Array> tangents) const {
    std::vector<Tree> arguments = leaf_trees(inputs.first(num_arguments_));
    for (std::size_t i = 0; i < num_arguments_; ++i) {
      arguments.emplace_back(tangents[i].is_null() ? zeros_like(inputs[i]) : tangents[i]);
    }
    const Tree found = parts_.rule(arguments);
    if (!found.is_list() || found.items().size() != 2) {
      throw_value_error(name(), "its rule returned " + std::string(found.kind()) +
                                    "; it must return two trees, the result and its tangent");
    }
    check_result(name(), "the tangent that its rule gives", found.items()[1], result_,
                 body_->results());
    return flatten(with_zeros(found.items()[1], body_->results()));
  }

  TreeCustomJvp parts_;
  BodyPtr body_;
  std::size_t num_arguments_;
  TreeStructure result_;
};

// `parts` is over leaves.
std::vector<Array> apply_custom_jvp(const TreeCustomJvp& parts, std::span<const Array> arguments,
                                    TreeStructure& result) {
  const std::vector<TreeStructure> leaves(arguments.size(), structure_of(Tree(Array())));
  const ClosedFunction closed =
      close_over(flat_function(parts.function, leaves, result), abstract_values(arguments));
  return lockstep::apply(std::make_shared<CustomJvp>(parts, closed.body, arguments.size(), result),
                         concatenated({arguments, closed.captures}));
}

std::vector<Array> CustomJvp::batch(const BatchRequest& request) const {
  if (any_batched(request, num_arguments_)) {
    throw_value_error(name(),
                      "it uses a value of the enclosing trace that vmap maps over; pass "
                      "that value as an argument");
  }
  const std::vector<bool> batched(
      request.batched.begin(),
      request.batched.begin() + static_cast<std::ptrdiff_t>(num_arguments_));
  const std::vector<BatchAxis> axes = batch_axes(batched);
  TreeCustomJvp whole{.name = parts_.name};
  whole.function = [parts = parts_, axes](std::span<const Tree> arguments) {
    return tree_vmap(parts.name, parts.function, arguments, axes);
  };
  whole.rule = [parts = parts_, axes](std::span<const Tree> arguments) {
    std::vector<BatchAxis> both = axes;
    both.insert(both.end(), axes.begin(), axes.end());
    return tree_vmap(parts.name, parts.rule, arguments, both);
  };
  TreeStructure result;
  return apply_custom_jvp(whole, request.inputs.first(num_arguments_), result);
}

}  // namespace

Tree tree_custom_jvp(const TreeCustomJvp& parts, std::span<const Tree> arguments) {
  const std::vector<TreeStructure> structures = structures_of(arguments);
  // The rule takes all leaves, then all tangents; the author's takes a list of each.
  const TreeFunction rule = [rule = parts.rule, structures](std::span<const Tree> leaves) {
    const std::size_t count = leaves.size() / 2;
    return rule(std::vector<Tree>{
        Tree(Tree::List(unflatten_all(structures, flatten_all(leaves.first(count))))),
        Tree(Tree::List(unflatten_all(structures, flatten_all(leaves.subspan(count)))))});
  };
  const TreeCustomJvp over_leaves{
      .name = parts.name, .function = leafwise(parts.function, structures), .rule = rule};
  TreeStructure result;
  const std::vector<Array> found = apply_custom_jvp(over_leaves, flatten_all(arguments), result);
  return unflatten(result, found);
}

}  // namespace lockstep
