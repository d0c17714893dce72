#include "trace/control_flow/body.h"

#include <utility>

#include "lockstep/trace/lowering.h"
#include "lockstep/trace/primitive.h"

namespace lockstep {
namespace {

// A constant that may stand in a body's text: larger ones would make it long.
bool is_small_constant(const Array& array) {
  constexpr std::int64_t max_elements = 16;
  return !array.is_traced() && array.size() <= max_elements;
}

}  // namespace

Body::Body(RecordedFunction function) : function_(std::move(function)) {
  const Graph& graph = *function_.graph;
  for (const ValueId id : graph.parameters()) parameters_.push_back(graph.value(id).abstract_value);
  for (const ValueId id : function_.outputs) results_.push_back(graph.value(id).abstract_value);
}

std::vector<Array> Body::operator()(std::span<const Array> arguments) const {
  return evaluate(function_, arguments);
}

std::vector<std::string> Body::emit(FunctionBuilder& builder,
                                    std::span<const std::string> arguments) const {
  std::vector<std::string> constants;
  for (const Array& constant : function_.graph->constants()) {
    constants.push_back(emit_constant(builder, constant.to_host()));
  }
  return lower_nodes(*function_.graph, function_.outputs, builder, arguments, constants);
}

std::string Body::text() const {
  return lower_graph(*function_.graph, function_.outputs).text;
}

ClosedFunction close_over(const FlatFunction& function, std::span<const AbstractValue> arguments) {
  const RecordedFunction recorded = record(function, arguments);
  const Graph& open = *recorded.graph;
  auto graph = std::make_shared<Graph>(Graph::Mode::Recording);
  std::vector<ValueId> ids(open.num_values());
  for (const ValueId id : open.parameters()) {
    ids[id] = traced(graph->add_parameter(open.value(id).abstract_value)).id();
  }
  const std::vector<bool> live = live_nodes(open, recorded.outputs);
  const std::vector<bool> used = used_values(open, recorded.outputs, live);
  ClosedFunction closed;
  for (ValueId id = 0; id < open.num_values(); ++id) {
    const ValueInfo& info = open.value(id);
    if (info.source != ValueInfo::Source::Constant) continue;
    if (!used[id]) continue;
    const Array& constant = open.constants()[info.index];
    if (is_small_constant(constant)) {
      ids[id] = graph->value_of(constant);
    } else {
      ids[id] = traced(graph->add_parameter(info.abstract_value)).id();
      closed.captures.push_back(constant);
    }
  }
  for (std::size_t n = 0; n < open.nodes().size(); ++n) {
    if (!live[n]) continue;
    const Node& node = open.nodes()[n];
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(ids[input]);
    std::vector<AbstractValue> outputs;
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      outputs.push_back(open.value(node.first_output + o).abstract_value);
    }
    const std::vector<Array> made =
        graph->add_node(node.primitive, std::move(inputs), std::move(outputs));
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      ids[node.first_output + o] = traced(made[o]).id();
    }
  }
  std::vector<ValueId> outputs;
  for (const ValueId output : recorded.outputs) outputs.push_back(ids[output]);
  graph->close();
  closed.body = std::make_shared<const Body>(
      RecordedFunction{.graph = std::move(graph), .outputs = std::move(outputs)});
  return closed;
}

}  // namespace lockstep
