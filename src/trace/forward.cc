#include "trace/forward.h"

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/primitive.h"

namespace lockstep {
namespace {

// Which nodes of the stretch the outputs need, by node - first_node.
std::vector<bool> needed_nodes(const Graph& graph, const Stretch& stretch,
                               std::span<const ValueId> outputs) {
  std::vector<bool> needed(stretch.end_node - stretch.first_node, false);
  const auto mark = [&](ValueId id) {
    if (stretch.tracks(id)) needed[graph.value(id).index - stretch.first_node] = true;
  };
  for (const ValueId output : outputs) mark(output);
  for (std::size_t n = stretch.end_node; n-- > stretch.first_node;) {
    if (!needed[n - stretch.first_node]) continue;
    for (const ValueId input : graph.nodes()[n].inputs) mark(input);
  }
  return needed;
}

void check_tangent(const Primitive& primitive, const Array& tangent, const AbstractValue& value) {
  if (tangent.shape() == value.shape && tangent.dtype() == value.dtype) return;
  throw_value_error(primitive.name(), "its derivative rule gave a tangent of type " +
                                          to_string(tangent.abstract_value()) +
                                          " for a result of type " + to_string(value));
}

}  // namespace

std::vector<Array> forward(Graph& graph, const Stretch& stretch, std::span<const Array> tangents,
                           std::span<const ValueId> outputs, bool record) {
  std::vector<Array> found(stretch.depends.size());
  std::copy(tangents.begin(), tangents.end(), found.begin());
  const auto array_of = [&](ValueId id) {
    return record ? graph.array_of(id) : graph.concrete(id);
  };
  const std::vector<bool> needed = needed_nodes(graph, stretch, outputs);
  std::vector<Array> inputs;
  std::vector<Array> results;
  std::vector<Array> given;
  for (std::size_t n = stretch.first_node + stretch.num_marked; n < stretch.end_node; ++n) {
    if (!needed[n - stretch.first_node]) continue;
    // A copy: recording the rule's ops may move the graph's nodes.
    const Node node = graph.nodes()[n];
    given.clear();
    for (const ValueId id : node.inputs) {
      given.push_back(stretch.tracks(id) ? found[id - stretch.first_value] : Array());
    }
    if (std::all_of(given.begin(), given.end(),
                    [](const Array& array) { return array.is_null(); })) {
      continue;
    }
    inputs.clear();
    results.clear();
    for (const ValueId id : node.inputs) inputs.push_back(array_of(id));
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      results.push_back(array_of(node.first_output + o));
    }
    std::vector<Array> pushed =
        node.primitive->jvp({.inputs = inputs, .outputs = results, .tangents = given});
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      const ValueId id = node.first_output + o;
      if (pushed[o].is_null() || !stretch.tracks(id)) continue;
      // A rule that differentiates for itself does so on this tape.
      if (!record && graph.owns(pushed[o])) pushed[o] = graph.concrete(traced(pushed[o]).id());
      check_tangent(*node.primitive, pushed[o], graph.value(id).abstract_value);
      found[id - stretch.first_value] = std::move(pushed[o]);
    }
  }
  std::vector<Array> wanted;
  for (const ValueId output : outputs) {
    wanted.push_back(stretch.tracks(output) ? found[output - stretch.first_value] : Array());
  }
  return wanted;
}

}  // namespace lockstep
