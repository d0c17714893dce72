#include "trace/batch.h"

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/lowering.h"
#include "lockstep/trace/primitive.h"
#include "trace/batching.h"

namespace lockstep {
namespace {

void check_batch(const Primitive& primitive, const Array& result, const AbstractValue& example,
                 std::int64_t size) {
  if (result.shape() == prepended(size, example.shape) && result.dtype() == example.dtype) return;
  throw_value_error(primitive.name(), "its batching rule gave " +
                                          to_string(result.abstract_value()) + " for " +
                                          std::to_string(size) + " of " + to_string(example));
}

}  // namespace

BatchedOutputs evaluate_batch(const RecordedFunction& function, std::span<const Array> arguments,
                              const std::vector<bool>& batched, std::int64_t size) {
  const Graph& graph = *function.graph;
  std::vector<Array> values(graph.num_values());
  std::vector<bool> is_batched(graph.num_values(), false);
  for (ValueId id = 0; id < graph.num_values(); ++id) {
    const ValueInfo& info = graph.value(id);
    if (info.source == ValueInfo::Source::Parameter) {
      values[id] = arguments[info.index];
      is_batched[id] = batched[info.index];
    }
    if (info.source == ValueInfo::Source::Constant) values[id] = graph.constants()[info.index];
  }
  const std::vector<bool> live = live_nodes(graph, function.outputs);
  std::vector<Array> inputs;
  std::vector<bool> inputs_batched;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (!live[n]) continue;
    const Node& node = graph.nodes()[n];
    inputs.clear();
    inputs_batched.clear();
    for (const ValueId input : node.inputs) {
      inputs.push_back(values[input]);
      inputs_batched.push_back(is_batched[input]);
    }
    const bool any =
        std::find(inputs_batched.begin(), inputs_batched.end(), true) != inputs_batched.end();
    std::vector<Array> results =
        any ? node.primitive->batch({.inputs = inputs, .batched = inputs_batched, .size = size})
            : lockstep::apply(node.primitive, inputs);
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      const ValueId id = node.first_output + o;
      if (any) check_batch(*node.primitive, results[o], graph.value(id).abstract_value, size);
      values[id] = std::move(results[o]);
      is_batched[id] = any;
    }
  }
  BatchedOutputs found;
  for (const ValueId output : function.outputs) {
    found.outputs.push_back(values[output]);
    found.batched.push_back(is_batched[output]);
  }
  return found;
}

}  // namespace lockstep
