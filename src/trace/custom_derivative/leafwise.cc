#include "trace/custom_derivative/leafwise.h"

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/tree/algorithms.h"
#include "trace/flat.h"

namespace lockstep {

TreeFunction leafwise(TreeFunction function, std::vector<TreeStructure> arguments) {
  return [function = std::move(function),
          arguments = std::move(arguments)](std::span<const Tree> leaves) {
    return function(unflatten_all(arguments, flatten_all(leaves)));
  };
}

std::vector<Tree> leaf_trees(std::span<const Tree> arguments) {
  return leaf_trees(flatten_all(arguments));
}

std::vector<Tree> leaf_trees(std::span<const Array> leaves) {
  return {leaves.begin(), leaves.end()};
}

std::vector<BatchAxis> batch_axes(const std::vector<bool>& batched) {
  std::vector<BatchAxis> axes;
  for (const bool is_batched : batched) {
    axes.push_back(is_batched ? BatchAxis(0) : std::nullopt);
  }
  return axes;
}

void check_result(std::string_view where, std::string_view what, const Tree& found,
                  const TreeStructure& structure, std::span<const AbstractValue> expected) {
  const TreeStructure given = structure_of(found);
  if (given != structure) {
    throw_value_error(where, std::string(what) + " is " + given.to_string() + ", but " +
                                 structure.to_string() + " is expected");
  }
  std::size_t i = 0;
  for_each_leaf(found, [&](const KeyPath& path, const Array& leaf) {
    const AbstractValue& value = expected[i++];
    if (leaf.is_null() || (leaf.shape() == value.shape && leaf.dtype() == value.dtype)) return;
    throw_value_error(
        where, std::string(what) + (path.empty() ? "" : " at '" + to_string(path) + "'") + " is " +
                   to_string(leaf.abstract_value()) + ", but " + to_string(value) + " is expected");
  });
}

Tree with_zeros(const Tree& tree, std::span<const AbstractValue> values) {
  std::size_t i = 0;
  return map_tree(
      [&](const Array& leaf) {
        const AbstractValue& value = values[i++];
        return leaf.is_null() ? zeros(value.shape, value.dtype) : leaf;
      },
      tree);
}

}  // namespace lockstep
