// custom_vjp: the function as it is, with a backward rule that its author gives.
#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/custom_derivative.h"
#include "lockstep/trace/primitive.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/trace/transform.h"
#include "lockstep/tree/algorithms.h"
#include "trace/batching.h"
#include "trace/control_flow/body.h"
#include "trace/custom_derivative/leafwise.h"
#include "trace/flat.h"
#include "trace/rule_support.h"
#include "trace/stretch.h"

namespace lockstep {
namespace {

// Arguments of the parts are leaves; the inputs after them are what the function captured.
class CustomVjp final : public Primitive {
 public:
  CustomVjp(TreeCustomVjp parts, BodyPtr body, std::size_t num_arguments, TreeStructure result)
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

  std::vector<Array> vjp(const VjpRequest& request) const override {
    for (std::size_t i = num_arguments_; i < request.inputs.size(); ++i) {
      if (!request.needed[i]) continue;
      throw_value_error(name(), "it uses a value of the enclosing trace (" +
                                    to_string(request.inputs[i].abstract_value()) +
                                    ") that is differentiated, for which its rule gives no "
                                    "cotangent; pass that value as an argument");
    }
    const std::vector<Tree> arguments = leaf_trees(request.inputs.first(num_arguments_));
    const Tree forward = parts_.forward(arguments);
    if (!forward.is_list() || forward.items().size() != 2) {
      throw_value_error(name(), "its forward function returned " + std::string(forward.kind()) +
                                    "; it must return two trees, the result and the residuals");
    }
    check_result(name(), "the result of its forward function", forward.items()[0], result_,
                 body_->results());
    const Tree cotangent = with_zeros(unflatten(result_, request.cotangents), body_->results());
    const Tree given = parts_.backward(std::vector<Tree>{forward.items()[1], cotangent});
    std::vector<Array> leaves = flatten(given);
    if (leaves.size() != num_arguments_) {
      throw_value_error(name(), "its backward function gave " + std::to_string(leaves.size()) +
                                    " cotangents for arguments of " +
                                    std::to_string(num_arguments_) +
                                    " leaves; it must give one for each (Array() where there is "
                                    "none)");
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const Array& argument = request.inputs[i];
      if (leaves[i].is_null() || !request.needed[i]) continue;
      if (leaves[i].shape() == argument.shape() && leaves[i].dtype() == argument.dtype()) continue;
      throw_value_error(name(), "its backward function gave a cotangent of type " +
                                    to_string(leaves[i].abstract_value()) + " for leaf " +
                                    std::to_string(i) + " of the arguments, which is " +
                                    to_string(argument.abstract_value()) +
                                    "; shape and type must be equal");
    }
    leaves.resize(request.inputs.size());
    return leaves;
  }

  std::vector<Array> jvp(const JvpRequest&) const override {
    throw_value_error(name(),
                      "it has a rule for reverse mode only (custom_vjp), and forward mode was "
                      "asked for; use custom_jvp, whose rule serves both modes");
  }

  std::vector<Array> batch(const BatchRequest& request) const override;

 private:
  TreeCustomVjp parts_;
  BodyPtr body_;
  std::size_t num_arguments_;
  TreeStructure result_;
};

// `parts` is over leaves.
std::vector<Array> apply_custom_vjp(const TreeCustomVjp& parts, std::span<const Array> arguments,
                                    TreeStructure& result) {
  const std::vector<TreeStructure> leaves(arguments.size(), structure_of(Tree(Array())));
  const ClosedFunction closed =
      close_over(flat_function(parts.function, leaves, result), abstract_values(arguments));
  return lockstep::apply(std::make_shared<CustomVjp>(parts, closed.body, arguments.size(), result),
                         concatenated({arguments, closed.captures}));
}

std::vector<Array> CustomVjp::batch(const BatchRequest& request) const {
  if (any_batched(request, num_arguments_)) {
    throw_value_error(name(),
                      "it uses a value of the enclosing trace that vmap maps over; pass "
                      "that value as an argument");
  }
  std::vector<bool> batched(request.batched.begin(),
                            request.batched.begin() + static_cast<std::ptrdiff_t>(num_arguments_));
  const std::vector<BatchAxis> axes = batch_axes(batched);
  TreeCustomVjp whole{.name = parts_.name};
  whole.function = [parts = parts_, axes](std::span<const Tree> arguments) {
    return tree_vmap(parts.name, parts.function, arguments, axes);
  };
  whole.forward = [parts = parts_, axes](std::span<const Tree> arguments) {
    return tree_vmap(parts.name, parts.forward, arguments, axes);
  };
  // Arguments that all examples share get the sum of their cotangents.
  whole.backward = [parts = parts_, batched](std::span<const Tree> arguments) -> Tree {
    const std::vector<BatchAxis> both(arguments.size(), 0);
    std::vector<bool> is_null;
    const TreeFunction without_nulls = [&](std::span<const Tree> example) {
      Tree::List given;
      is_null.clear();
      for (const Array& leaf : flatten(parts.backward(example))) {
        is_null.push_back(leaf.is_null());
        if (!leaf.is_null()) given.emplace_back(leaf);
      }
      return Tree(std::move(given));
    };
    const Tree given = tree_vmap(parts.name, without_nulls, arguments, both);
    Tree::List cotangents;
    std::size_t next = 0;
    for (std::size_t i = 0; i < is_null.size(); ++i) {
      if (is_null[i]) {
        cotangents.emplace_back(Array());
        continue;
      }
      const Array& leaf = given.items()[next++].leaf();
      cotangents.emplace_back(batched[i] ? leaf : sum(leaf, {.axis = {0}}));
    }
    return Tree(std::move(cotangents));
  };
  TreeStructure result;
  return apply_custom_vjp(whole, request.inputs.first(num_arguments_), result);
}

}  // namespace

Tree tree_custom_vjp(const TreeCustomVjp& parts, std::span<const Tree> arguments) {
  const std::vector<TreeStructure> structures = structures_of(arguments);
  TreeCustomVjp over_leaves{.name = parts.name,
                            .function = leafwise(parts.function, structures),
                            .forward = leafwise(parts.forward, structures),
                            .backward = parts.backward};
  TreeStructure result;
  const std::vector<Array> found = apply_custom_vjp(over_leaves, flatten_all(arguments), result);
  return unflatten(result, found);
}

}  // namespace lockstep
