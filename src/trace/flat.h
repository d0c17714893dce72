#pragma once
// Functions of trees as functions of flat lists, and lists of arrays.
#include <initializer_list>
#include <span>
#include <vector>

#include "lockstep/trace/function_traits.h"
#include "lockstep/trace/record.h"
#include "lockstep/tree/structure.h"

namespace lockstep {

// A function of trees of `arguments` as one of their leaves. Each call sets `result` to the
// structure of what it returned. `function`, `arguments` and `result` must outlive it.
FlatFunction flat_function(const TreeFunction& function, std::span<const TreeStructure> arguments,
                           TreeStructure& result);

// The trees of `structures` over consecutive leaves.
std::vector<Tree> unflatten_all(std::span<const TreeStructure> structures,
                                std::span<const Array> leaves);

// The structures of trees, and their leaves one after the other.
std::vector<TreeStructure> structures_of(std::span<const Tree> trees);
std::vector<Array> flatten_all(std::span<const Tree> trees);

// The arrays of all lists, one after the other.
std::vector<Array> concatenated(std::initializer_list<std::span<const Array>> lists);
// Removes the first `count` arrays from `arrays` and returns them.
std::span<const Array> take_front(std::span<const Array>& arrays, std::size_t count);

}  // namespace lockstep
