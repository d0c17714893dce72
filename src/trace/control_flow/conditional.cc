// cond and switch: branches are pulled back and pushed forward each by itself, under the same
// index.
#include "trace/control_flow/conditional.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/primitive.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batch.h"
#include "trace/batching.h"
#include "trace/control_flow/body.h"
#include "trace/differentiation.h"
#include "trace/flat.h"
#include "trace/rule_support.h"
#include "trace/stretch.h"

namespace lockstep {
namespace {

// A branch's body takes the operands that all share, then its own captures.
struct Branch {
  BodyPtr body;
  std::size_t first_capture;  // among the primitive's inputs
};

class Conditional final : public Primitive {
 public:
  Conditional(std::vector<Branch> branches, std::size_t num_operands, std::size_t num_inputs)
      : branches_(std::move(branches)), num_operands_(num_operands), num_inputs_(num_inputs) {}

  std::string_view name() const override { return "cond"; }
  std::string attributes() const override {
    std::string text;
    for (const Branch& branch : branches_) {
      text += fmt::format("branch = {{\n{}}} from {}, ", branch.body->text(), branch.first_capture);
    }
    return text + fmt::format("num_operands = {}", num_operands_);
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, num_inputs_);
    return branches_[0].body->results();
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue>,
                                 std::span<const AbstractValue> output_values) const override {
    const AbstractValue index{.shape = {}, .dtype = DType::Int32};
    std::vector<std::string> regions;
    for (const Branch& branch : branches_) {
      regions.push_back(builder.region({}, output_values, [&](std::span<const std::string>) {
        return branch.body->emit(builder, inputs_of(branch, inputs));
      }));
    }
    return builder.emit("stablehlo.case", inputs.first(1), std::span(&index, 1), output_values, {},
                        regions);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 1; i < request.inputs.size(); ++i) {
      if (request.needed[i]) wanted.push_back(i);
    }
    const auto branch_back = [&](const Branch& branch) -> FlatFunction {
      return [&](std::span<const Array> inputs) {
        const std::vector<Array> own = inputs_of(branch, inputs);
        std::vector<bool> needed = inputs_of(branch, request.needed);
        const std::vector<Array> found = pull_back(*branch.body, own, needed, request.cotangents);
        // Back to the places of all inputs; those of other branches get zeros.
        std::vector<Array> all(inputs.size());
        for (std::size_t i = 0; i < own.size(); ++i) all[place_of(branch, i)] = found[i];
        std::vector<Array> results;
        for (const std::size_t i : wanted) {
          results.push_back(all[i].is_null() ? zeros_like(inputs[i]) : all[i]);
        }
        return results;
      };
    };
    const std::vector<Array> found = switched(branch_back, request.inputs);
    std::vector<Array> cotangents(request.inputs.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) cotangents[wanted[k]] = found[k];
    return cotangents;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    std::vector<std::size_t> moving;
    for (std::size_t o = 0; o < request.outputs.size(); ++o) {
      if (is_differentiable(request.outputs[o].dtype())) moving.push_back(o);
    }
    const auto branch_forward = [&](const Branch& branch) -> FlatFunction {
      return [&](std::span<const Array> inputs) {
        const PushedForward pushed = push_forward(*branch.body, inputs_of(branch, inputs),
                                                  inputs_of(branch, request.tangents));
        std::vector<Array> results;
        for (const std::size_t o : moving) {
          results.push_back(pushed.tangents[o].is_null() ? zeros_like(pushed.results[o])
                                                         : pushed.tangents[o]);
        }
        return results;
      };
    };
    const std::vector<Array> found = switched(branch_forward, request.inputs);
    std::vector<Array> tangents(request.outputs.size());
    for (std::size_t k = 0; k < moving.size(); ++k) tangents[moving[k]] = found[k];
    return tangents;
  }

  // A batched index runs all branches and selects.
  std::vector<Array> batch(const BatchRequest& request) const override {
    const auto branch_batch = [&](const Branch& branch) -> FlatFunction {
      return [&](std::span<const Array> inputs) {
        BatchedOutputs found = evaluate_batch(branch.body->function(), inputs_of(branch, inputs),
                                              inputs_of(branch, request.batched), request.size);
        for (std::size_t o = 0; o < found.outputs.size(); ++o) {
          if (!found.batched[o]) found.outputs[o] = repeated(found.outputs[o], request.size);
        }
        return found.outputs;
      };
    };
    if (!request.batched[0]) return switched(branch_batch, request.inputs);
    std::vector<Array> chosen;
    for (std::size_t b = branches_.size(); b-- > 0;) {
      std::vector<Array> results = branch_batch(branches_[b])(request.inputs);
      if (chosen.empty()) {
        chosen = std::move(results);
        continue;
      }
      const Array is_this = request.inputs[0] == static_cast<std::int32_t>(b);
      for (std::size_t o = 0; o < results.size(); ++o) {
        const Array predicate =
            broadcast_in_dim(is_this, results[o].shape(), std::vector<std::int64_t>{0});
        chosen[o] = select(predicate, results[o], chosen[o]);
      }
    }
    return chosen;
  }

 private:
  // The place among all inputs of a branch's parameter.
  std::size_t place_of(const Branch& branch, std::size_t parameter) const {
    return parameter < num_operands_ ? 1 + parameter
                                     : branch.first_capture + parameter - num_operands_;
  }
  // What a branch takes of something with one entry for each input.
  template <class List>
  std::vector<typename List::value_type> inputs_of(const Branch& branch, const List& all) const {
    std::vector<typename List::value_type> own;
    for (std::size_t i = 0; i < branch.body->parameters().size(); ++i) {
      own.push_back(all[place_of(branch, i)]);
    }
    return own;
  }

  // A conditional over what `make` makes of each branch; those functions take all inputs.
  template <class Make>
  std::vector<Array> switched(const Make& make, std::span<const Array> inputs) const {
    std::vector<FlatFunction> functions;
    for (const Branch& branch : branches_) functions.push_back(make(branch));
    std::vector<FlatFunction> of_operands;
    for (const FlatFunction& function : functions) {
      of_operands.push_back([&function, &inputs](std::span<const Array> operands) {
        return function(concatenated({inputs.first(1), operands}));
      });
    }
    return flat_switch(inputs[0], of_operands, inputs.subspan(1));
  }

  std::vector<Branch> branches_;
  std::size_t num_operands_;
  std::size_t num_inputs_;
};

}  // namespace

std::vector<Array> flat_switch(const Array& index, std::span<const FlatFunction> branches,
                               std::span<const Array> operands) {
  const std::vector<AbstractValue> values = abstract_values(operands);
  std::vector<Array> inputs = concatenated({std::span(&index, 1), operands});
  std::vector<Branch> made;
  for (const FlatFunction& branch : branches) {
    const ClosedFunction closed = close_over(branch, values);
    made.push_back({.body = closed.body, .first_capture = inputs.size()});
    inputs.insert(inputs.end(), closed.captures.begin(), closed.captures.end());
  }
  return lockstep::apply(
      std::make_shared<Conditional>(std::move(made), operands.size(), inputs.size()), inputs);
}

}  // namespace lockstep
