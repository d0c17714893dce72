#pragma once
// The backward pass: cotangents of a stretch of a graph.
#include <span>
#include <vector>

#include "lockstep/trace/graph.h"

namespace lockstep {

// Marks in `graph` where differentiation starts: each input goes through an identity whose output
// only this differentiation knows, so nested ones are never confused. Returns the arrays that stand
// for the inputs and sets `first_node` to the first identity.
std::vector<Array> mark_inputs(Graph& graph, std::span<const Array> inputs,
                               std::size_t& first_node);

// Cotangents of the marked inputs for the cotangent `seed` of `output`; null where it does not
// depend on them. `first_node` and `num_inputs` are of mark_inputs. With `record` the rules' ops go
// into `graph` (which must be the current one of a trace); without, they run on the tape's concrete
// values.
std::vector<Array> backward(Graph& graph, std::size_t first_node, std::size_t num_inputs,
                            ValueId output, const Array& seed, bool record);

}  // namespace lockstep
