#pragma once
// The forward pass: tangents of a stretch of a graph.
#include <span>
#include <vector>

#include "lockstep/trace/graph.h"
#include "trace/stretch.h"

namespace lockstep {

// Tangents of `outputs` for those of the marked inputs (none null); null where an output does not
// depend on them. `record` is as in backward().
std::vector<Array> forward(Graph& graph, const Stretch& stretch, std::span<const Array> tangents,
                           std::span<const ValueId> outputs, bool record);

}  // namespace lockstep
