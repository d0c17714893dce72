#include "trace/stretch.h"

#include <algorithm>
#include <utility>

#include "lockstep/trace/primitive.h"
#include "trace/primitives.h"

namespace lockstep {

bool is_differentiable(DType dtype) {
  return is_floating(dtype) || is_complex(dtype);
}

std::vector<Array> mark_inputs(Graph& graph, std::span<const Array> inputs,
                               std::size_t& first_node) {
  const bool on_tape = graph.mode() == Graph::Mode::Tape;
  std::vector<ValueId> ids;
  for (const Array& input : inputs) ids.push_back(graph.value_of(input));
  first_node = graph.nodes().size();
  std::vector<Array> marked;
  marked.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<Array> results;
    if (on_tape) results.push_back(graph.concrete(ids[i]));
    marked.push_back(graph
                         .add_node(primitives::identity(), {ids[i]}, {inputs[i].abstract_value()},
                                   std::move(results))
                         .front());
  }
  return marked;
}

Stretch find_dependents(const Graph& graph, std::size_t first_node, std::size_t num_marked) {
  Stretch stretch{.first_node = first_node,
                  .num_marked = num_marked,
                  .end_node = graph.nodes().size(),
                  .first_value = graph.nodes()[first_node].first_output};
  stretch.depends.resize(graph.num_values() - stretch.first_value, false);
  for (std::size_t n = first_node; n < stretch.end_node; ++n) {
    const Node& node = graph.nodes()[n];
    const bool depends = n < first_node + num_marked ||
                         std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId input) { return stretch.tracks(input); });
    if (!depends) continue;
    for (ValueId id = node.first_output; id < node.first_output + node.num_outputs; ++id) {
      stretch.depends[id - stretch.first_value] =
          is_differentiable(graph.value(id).abstract_value.dtype);
    }
  }
  return stretch;
}

}  // namespace lockstep
