#include <algorithm>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/graph.h"
#include "lockstep/trace/primitive.h"
#include "trace/eager.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

std::vector<ValueId> values_of(Graph& graph, std::span<const Array> arrays) {
  std::vector<ValueId> ids;
  ids.reserve(arrays.size());
  for (const Array& array : arrays) ids.push_back(graph.value_of(array));
  return ids;
}

// Runs the primitive on the values behind tracked arrays and records it.
std::vector<Array> apply_on_tape(Graph& tape, std::shared_ptr<const Primitive> primitive,
                                 std::span<const Array> inputs) {
  std::vector<ValueId> ids = values_of(tape, inputs);
  std::vector<Array> concrete;
  concrete.reserve(ids.size());
  for (const ValueId id : ids) concrete.push_back(tape.concrete(id));
  std::vector<Array> results = run_eagerly(primitive, concrete);
  std::vector<AbstractValue> outputs = abstract_values(results);
  return tape.add_node(std::move(primitive), std::move(ids), std::move(outputs),
                       std::move(results));
}

}  // namespace

std::vector<Array> apply(std::shared_ptr<const Primitive> primitive,
                         std::span<const Array> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_null()) continue;
    throw_value_error(primitive->name(), "operand " + std::to_string(i) +
                                             " has no value; it was default-constructed and never "
                                             "assigned");
  }
  const std::shared_ptr<Graph>& graph = current_graph();
  if (graph != nullptr && graph->mode() == Graph::Mode::Recording) {
    std::vector<ValueId> ids = values_of(*graph, inputs);
    std::vector<AbstractValue> outputs = primitive->infer(abstract_values(inputs));
    return graph->add_node(std::move(primitive), std::move(ids), std::move(outputs));
  }
  if (graph != nullptr && std::any_of(inputs.begin(), inputs.end(),
                                      [](const Array& array) { return array.is_traced(); })) {
    return apply_on_tape(*graph, std::move(primitive), inputs);
  }
  return run_eagerly(primitive, inputs);
}

Array apply_one(std::shared_ptr<const Primitive> primitive, std::span<const Array> inputs) {
  return std::move(lockstep::apply(std::move(primitive), inputs).front());
}

std::vector<std::string> Primitive::lower_used(FunctionBuilder& builder,
                                               std::span<const std::string> inputs,
                                               std::span<const AbstractValue> input_values,
                                               std::span<const AbstractValue> output_values,
                                               const std::vector<bool>&) const {
  return lower(builder, inputs, input_values, output_values);
}

std::vector<Array> Primitive::vjp(const VjpRequest&) const {
  throw_value_error(name(),
                    "it has no derivative in reverse mode; use stop_gradient on its operands "
                    "if none is wanted");
}

std::vector<Array> Primitive::jvp(const JvpRequest&) const {
  throw_value_error(name(),
                    "it has no derivative in forward mode; use stop_gradient on its operands "
                    "if none is wanted");
}

std::vector<Array> Primitive::batch(const BatchRequest&) const {
  throw_value_error(name(), "vmap has no rule for it; write it with other ops, or loop with scan");
}

}  // namespace lockstep
