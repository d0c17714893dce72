#include "train/tree_leaves.h"

namespace lockstep {
namespace {

bool append_as(const TreeStructure& structure, const Tree& tree, std::vector<Array>& leaves) {
  switch (structure.kind()) {
    case TreeStructure::Kind::None: return tree.is_none();
    case TreeStructure::Kind::Leaf:
      if (!tree.is_leaf()) return false;
      leaves.push_back(tree.leaf());
      return true;
    case TreeStructure::Kind::List: {
      if (!tree.is_list() || tree.items().size() != structure.children().size()) return false;
      for (std::size_t i = 0; i < structure.children().size(); ++i) {
        if (!append_as(structure.children()[i], tree.items()[i], leaves)) return false;
      }
      return true;
    }
    case TreeStructure::Kind::Dict: {
      if (!tree.is_dict() || tree.entries().size() != structure.children().size()) return false;
      std::size_t i = 0;
      for (const auto& [key, entry] : tree.entries()) {
        if (key != structure.keys()[i]) return false;
        if (!append_as(structure.children()[i++], entry, leaves)) return false;
      }
      return true;
    }
  }
  return false;
}

}  // namespace

void append_leaves(const Tree& tree, std::vector<Array>& leaves) {
  for_each_leaf(tree, [&](const KeyPath&, const Array& leaf) { leaves.push_back(leaf); });
}

bool flatten_as(const TreeStructure& structure, const Tree& tree, std::vector<Array>& leaves) {
  leaves.clear();
  return append_as(structure, tree, leaves);
}

}  // namespace lockstep
