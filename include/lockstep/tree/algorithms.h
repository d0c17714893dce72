#pragma once
/// flatten, unflatten, map: what is done with trees.
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/tree/structure.h"
#include "lockstep/tree/tree.h"

namespace lockstep {

/// The tree's structure; one `*` for each leaf.
template <class Leaf>
[[nodiscard]] TreeStructure structure_of(const BasicTree<Leaf>& tree);

/// The leaves in order: dict entries by key, list items by index; None has none.
template <class Leaf>
[[nodiscard]] std::vector<Leaf> flatten(const BasicTree<Leaf>& tree);

/// A tree of `structure` over `leaves`; ValueError unless there are exactly as many as it has
/// places.
template <class Leaf>
[[nodiscard]] BasicTree<Leaf> unflatten(const TreeStructure& structure,
                                        std::span<const Leaf> leaves);
template <class Leaf>
[[nodiscard]] BasicTree<Leaf> unflatten(const TreeStructure& structure,
                                        const std::vector<Leaf>& leaves);

/// Calls `function(path, leaf)` for every leaf in order.
template <class Leaf, class Function>
void for_each_leaf(const BasicTree<Leaf>& tree, Function&& function);

/// Whether `predicate(leaf)` holds for every leaf; asks no further after one for which it does not.
template <class Predicate, class Leaf>
[[nodiscard]] bool all_leaves(Predicate&& predicate, const BasicTree<Leaf>& tree);

/// A tree of the same structure with `function(leaf, other_leaves...)` at every leaf.
/// The trees must agree in structure: ValueError naming the first path where they do not.
template <class Function, class Leaf, class... Others>
[[nodiscard]] auto map_tree(Function&& function, const BasicTree<Leaf>& tree,
                            const BasicTree<Others>&... others);

/// As map_tree over one tree, with `function(path, leaf)`.
template <class Function, class Leaf>
[[nodiscard]] auto map_tree_with_path(Function&& function, const BasicTree<Leaf>& tree);

/// ValueError naming `where`, the first path at which the structures differ, and both sides there.
void check_same_structure(std::string_view where, const TreeStructure& expected,
                          const TreeStructure& found);

}  // namespace lockstep

#include "lockstep/tree/algorithms_impl.h"
