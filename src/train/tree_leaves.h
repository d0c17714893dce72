#pragma once
// Leaves of trees as flat lists, without allocating what a loop can keep.
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep {

// Appends the leaves in flattening order.
void append_leaves(const Tree& tree, std::vector<Array>& leaves);

// Fills `leaves` if the tree has this structure; whether it has.
[[nodiscard]] bool flatten_as(const TreeStructure& structure, const Tree& tree,
                              std::vector<Array>& leaves);

}  // namespace lockstep
