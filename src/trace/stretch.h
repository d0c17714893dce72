#pragma once
// A stretch of a graph: the nodes recorded since some inputs were marked. What both passes of
// differentiation walk over.
#include <cstddef>
#include <span>
#include <vector>

#include "lockstep/trace/graph.h"

namespace lockstep {

// Whether derivatives by values of this type exist.
bool is_differentiable(DType dtype);

// The nodes from `first_node` on, of which the first `num_marked` are the marks.
struct Stretch {
  std::size_t first_node = 0;
  std::size_t num_marked = 0;
  std::size_t end_node = 0;  // later nodes do not belong to it
  ValueId first_value = 0;
  std::vector<bool> depends = {};  // by value - first_value: whether it depends on a marked input

  [[nodiscard]] bool tracks(ValueId id) const {
    return id >= first_value && id - first_value < depends.size() && depends[id - first_value];
  }
};

// Marks in `graph` where differentiation starts: each input goes through an identity whose output
// only this differentiation knows, so nested ones are never confused. Returns the arrays that stand
// for the inputs and sets `first_node` to the first identity.
std::vector<Array> mark_inputs(Graph& graph, std::span<const Array> inputs,
                               std::size_t& first_node);

// The stretch from the marks (at least one) to the graph's present end.
Stretch find_dependents(const Graph& graph, std::size_t first_node, std::size_t num_marked);

}  // namespace lockstep
