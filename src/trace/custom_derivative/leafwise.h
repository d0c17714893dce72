#pragma once
// Functions with derivatives of their own, seen as functions of leaves: every argument is one leaf,
// so that each may be batched by itself.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/trace/primitive.h"
#include "lockstep/trace/transform.h"

namespace lockstep {

// `function` of trees of these structures as one of their leaves, each a tree.
TreeFunction leafwise(TreeFunction function, std::vector<TreeStructure> arguments);

// The leaves of `arguments`, each as a tree.
std::vector<Tree> leaf_trees(std::span<const Tree> arguments);
std::vector<Tree> leaf_trees(std::span<const Array> leaves);

// Where each argument of a batch is batched.
std::vector<BatchAxis> batch_axes(const std::vector<bool>& batched);

// ValueError naming the primitive unless `found` has the structure, shapes and types of `expected`
// (weak types aside); null leaves pass.
void check_result(std::string_view where, std::string_view what, const Tree& found,
                  const TreeStructure& structure, std::span<const AbstractValue> expected);

// `tree` with zeros of `values` for null leaves.
Tree with_zeros(const Tree& tree, std::span<const AbstractValue> values);

}  // namespace lockstep
