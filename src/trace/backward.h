#pragma once
// The backward pass: cotangents of a stretch of a graph.
#include <span>
#include <vector>

#include "lockstep/trace/graph.h"
#include "trace/stretch.h"

namespace lockstep {

// Cotangents of the marked inputs for those of `outputs` (null: zero); null where an input has no
// part in them. With `record` the rules get the graph's traced values, and what they compute goes
// into the current trace; without, they run on the tape's concrete values, also after it is closed.
std::vector<Array> backward(Graph& graph, const Stretch& stretch, std::span<const ValueId> outputs,
                            std::span<const Array> output_cotangents, bool record);

}  // namespace lockstep
