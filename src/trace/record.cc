#include "lockstep/trace/record.h"

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/lowering.h"
#include "lockstep/trace/primitive.h"

namespace lockstep {

RecordedFunction record(const FlatFunction& function, std::span<const AbstractValue> arguments) {
  auto graph = std::make_shared<Graph>(Graph::Mode::Recording);
  std::vector<Array> parameters;
  parameters.reserve(arguments.size());
  for (const AbstractValue& argument : arguments) {
    parameters.push_back(graph->add_parameter(argument));
  }
  std::vector<ValueId> outputs;
  {
    const GraphScope scope(graph);
    for (const Array& output : function(parameters)) outputs.push_back(graph->value_of(output));
  }
  graph->close();
  return {.graph = std::move(graph), .outputs = std::move(outputs)};
}

std::vector<Array> evaluate(const RecordedFunction& function, std::span<const Array> arguments) {
  const Graph& graph = *function.graph;
  if (arguments.size() != graph.parameters().size()) {
    throw_value_error("evaluate", "got " + std::to_string(arguments.size()) +
                                      " arguments for a function of " +
                                      std::to_string(graph.parameters().size()));
  }
  std::vector<Array> values(graph.num_values());
  for (ValueId id = 0; id < graph.num_values(); ++id) {
    const ValueInfo& info = graph.value(id);
    if (info.source == ValueInfo::Source::Parameter) values[id] = arguments[info.index];
    if (info.source == ValueInfo::Source::Constant) values[id] = graph.constants()[info.index];
  }
  const std::vector<bool> live = live_nodes(graph, function.outputs);
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!live[i]) continue;
    const Node& node = graph.nodes()[i];
    inputs.clear();
    for (const ValueId input : node.inputs) inputs.push_back(values[input]);
    std::vector<Array> results = lockstep::apply(node.primitive, inputs);
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      values[node.first_output + o] = std::move(results[o]);
    }
  }
  std::vector<Array> outputs;
  outputs.reserve(function.outputs.size());
  for (const ValueId output : function.outputs) outputs.push_back(values[output]);
  return outputs;
}

std::vector<AbstractValue> eval_shape(const FlatFunction& function,
                                      std::span<const AbstractValue> arguments) {
  const RecordedFunction recorded = record(function, arguments);
  std::vector<AbstractValue> values;
  values.reserve(recorded.outputs.size());
  for (const ValueId output : recorded.outputs) {
    values.push_back(recorded.graph->value(output).abstract_value);
  }
  return values;
}

Array shape_dtype_struct(Shape shape, DType dtype) {
  auto graph = std::make_shared<Graph>(Graph::Mode::Recording);
  Array array = graph->add_parameter({.shape = std::move(shape), .dtype = dtype});
  graph->close();
  return array;
}

}  // namespace lockstep
