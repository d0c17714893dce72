#include "trace/flat.h"

#include "lockstep/tree/algorithms.h"

namespace lockstep {

FlatFunction flat_function(const TreeFunction& function, std::span<const TreeStructure> arguments,
                           TreeStructure& result) {
  return [&function, arguments, &result](std::span<const Array> leaves) {
    const Tree returned = function(unflatten_all(arguments, leaves));
    result = structure_of(returned);
    return flatten(returned);
  };
}

std::vector<Tree> unflatten_all(std::span<const TreeStructure> structures,
                                std::span<const Array> leaves) {
  std::vector<Tree> trees;
  trees.reserve(structures.size());
  for (const TreeStructure& structure : structures) {
    trees.push_back(unflatten(structure, take_front(leaves, structure.num_leaves())));
  }
  return trees;
}

std::vector<TreeStructure> structures_of(std::span<const Tree> trees) {
  std::vector<TreeStructure> structures;
  for (const Tree& tree : trees) structures.push_back(structure_of(tree));
  return structures;
}

std::vector<Array> flatten_all(std::span<const Tree> trees) {
  std::vector<Array> leaves;
  for (const Tree& tree : trees) {
    for_each_leaf(tree, [&](const KeyPath&, const Array& leaf) { leaves.push_back(leaf); });
  }
  return leaves;
}

std::vector<Array> concatenated(std::initializer_list<std::span<const Array>> lists) {
  std::vector<Array> all;
  for (const std::span<const Array> list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::span<const Array> take_front(std::span<const Array>& arrays, std::size_t count) {
  const std::span<const Array> taken = arrays.first(count);
  arrays = arrays.subspan(count);
  return taken;
}

}  // namespace lockstep
