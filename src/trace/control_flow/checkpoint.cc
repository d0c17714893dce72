#include "trace/control_flow/checkpoint.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/trace/creation.h"
#include "lockstep/trace/custom_derivative.h"
#include "lockstep/trace/primitive.h"
#include "lockstep/tree/algorithms.h"
#include "trace/batch.h"
#include "trace/batching.h"
#include "trace/control_flow/body.h"
#include "trace/differentiation.h"
#include "trace/flat.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/stretch.h"

namespace lockstep {
namespace {

class Checkpoint final : public Primitive {
 public:
  explicit Checkpoint(BodyPtr body) : body_(std::move(body)) {}
  std::string_view name() const override { return "checkpoint"; }
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

  // The body again, behind a barrier that waits for the cotangents: else the compiler would find
  // that it was computed before, and keep what it was to forget.
  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<Array> behind(request.inputs.begin(), request.inputs.end());
    for (const Array& cotangent : request.cotangents) {
      if (!cotangent.is_null()) behind.push_back(cotangent);
    }
    behind = lockstep::apply(primitives::optimization_barrier(), behind);
    std::span<const Array> rest = behind;
    const std::span<const Array> inputs = take_front(rest, request.inputs.size());
    std::vector<Array> cotangents;
    for (const Array& cotangent : request.cotangents) {
      cotangents.push_back(cotangent.is_null() ? Array() : take_front(rest, 1).front());
    }
    return pull_back(*body_, inputs, request.needed, cotangents);
  }

  // A checkpoint too, so that the backward pass through the tangents forgets as well.
  std::vector<Array> jvp(const JvpRequest& request) const override {
    std::vector<std::size_t> moving;
    std::vector<Array> arguments(request.inputs.begin(), request.inputs.end());
    for (std::size_t i = 0; i < request.tangents.size(); ++i) {
      if (request.tangents[i].is_null()) continue;
      moving.push_back(i);
      arguments.push_back(request.tangents[i]);
    }
    std::vector<bool> has_tangent;
    const FlatFunction pushed = [&](std::span<const Array> all) {
      const std::span<const Array> inputs = take_front(all, request.inputs.size());
      std::vector<Array> tangents(inputs.size());
      for (std::size_t m = 0; m < moving.size(); ++m) tangents[moving[m]] = all[m];
      std::vector<Array> found;
      has_tangent.clear();
      for (Array& tangent : push_forward(*body_, inputs, tangents).tangents) {
        has_tangent.push_back(!tangent.is_null());
        if (!tangent.is_null()) found.push_back(std::move(tangent));
      }
      return found;
    };
    const std::vector<Array> found = flat_checkpoint(pushed, arguments);
    std::vector<Array> tangents(request.outputs.size());
    std::size_t next = 0;
    for (std::size_t o = 0; o < tangents.size(); ++o) {
      if (has_tangent[o]) tangents[o] = found[next++];
    }
    return tangents;
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    const FlatFunction batched = [&](std::span<const Array> inputs) {
      BatchedOutputs found =
          evaluate_batch(body_->function(), inputs, request.batched, request.size);
      for (std::size_t o = 0; o < found.outputs.size(); ++o) {
        if (!found.batched[o]) found.outputs[o] = repeated(found.outputs[o], request.size);
      }
      return found.outputs;
    };
    return flat_checkpoint(batched, request.inputs);
  }

 private:
  BodyPtr body_;
};

}  // namespace

std::vector<Array> flat_checkpoint(const FlatFunction& function, std::span<const Array> arguments) {
  const ClosedFunction closed = close_over(function, abstract_values(arguments));
  return lockstep::apply(std::make_shared<Checkpoint>(closed.body),
                         concatenated({arguments, closed.captures}));
}

Tree tree_checkpoint(const TreeFunction& function, std::span<const Tree> arguments) {
  const std::vector<TreeStructure> structures = structures_of(arguments);
  TreeStructure result;
  const std::vector<Array> found =
      flat_checkpoint(flat_function(function, structures, result), flatten_all(arguments));
  return unflatten(result, found);
}

}  // namespace lockstep
