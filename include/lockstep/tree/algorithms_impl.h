#pragma once
// The bodies of algorithms.h.

namespace lockstep {
namespace tree_internal {

template <class Leaf>
void append_leaves(const BasicTree<Leaf>& tree, std::vector<Leaf>& leaves) {
  if (tree.is_leaf()) {
    leaves.push_back(tree.leaf());
  } else if (tree.is_list()) {
    for (const BasicTree<Leaf>& item : tree.items()) append_leaves(item, leaves);
  } else if (tree.is_dict()) {
    for (const auto& [key, entry] : tree.entries()) append_leaves(entry, leaves);
  }
}

template <class Leaf>
[[nodiscard]] BasicTree<Leaf> build(const TreeStructure& structure, const Leaf*& next) {
  switch (structure.kind()) {
    case TreeStructure::Kind::None: break;
    case TreeStructure::Kind::Leaf: return BasicTree<Leaf>(*next++);
    case TreeStructure::Kind::List: {
      typename BasicTree<Leaf>::List items;
      items.reserve(structure.children().size());
      for (const TreeStructure& child : structure.children()) items.push_back(build(child, next));
      return BasicTree<Leaf>(std::move(items));
    }
    case TreeStructure::Kind::Dict: {
      typename BasicTree<Leaf>::Dict entries;
      for (std::size_t i = 0; i < structure.children().size(); ++i) {
        entries.emplace_hint(entries.end(), structure.keys()[i],
                             build(structure.children()[i], next));
      }
      return BasicTree<Leaf>(std::move(entries));
    }
  }
  return {};
}

template <class Leaf, class Function>
void visit_leaves(const BasicTree<Leaf>& tree, KeyPath& path, Function& function) {
  if (tree.is_leaf()) {
    function(std::as_const(path), tree.leaf());
  } else if (tree.is_list()) {
    for (std::size_t i = 0; i < tree.items().size(); ++i) {
      path.emplace_back(i);
      visit_leaves(tree.items()[i], path, function);
      path.pop_back();
    }
  } else if (tree.is_dict()) {
    for (const auto& [key, entry] : tree.entries()) {
      path.emplace_back(key);
      visit_leaves(entry, path, function);
      path.pop_back();
    }
  }
}

template <class Leaf, class Other>
[[nodiscard]] bool same_level(const BasicTree<Leaf>& tree, const BasicTree<Other>& other) {
  if (tree.is_none()) return other.is_none();
  if (tree.is_leaf()) return other.is_leaf();
  if (tree.is_list()) return other.is_list() && other.items().size() == tree.items().size();
  if (!other.is_dict() || other.entries().size() != tree.entries().size()) return false;
  auto theirs = other.entries().begin();
  for (const auto& [key, entry] : tree.entries()) {
    if (theirs->first != key) return false;
    ++theirs;
  }
  return true;
}

template <class Leaf, class Other>
[[nodiscard]] bool same_structure(const BasicTree<Leaf>& tree, const BasicTree<Other>& other) {
  if (!same_level(tree, other)) return false;
  if (tree.is_list()) {
    for (std::size_t i = 0; i < tree.items().size(); ++i) {
      if (!same_structure(tree.items()[i], other.items()[i])) return false;
    }
  } else if (tree.is_dict()) {
    auto theirs = other.entries().begin();
    for (const auto& [key, entry] : tree.entries()) {
      if (!same_structure(entry, theirs->second)) return false;
      ++theirs;
    }
  }
  return true;
}

// The trees are known to agree in structure.
template <class Result, class Function, class Leaf, class... Others>
[[nodiscard]] BasicTree<Result> map_level(Function& function, const BasicTree<Leaf>& tree,
                                          const BasicTree<Others>&... others) {
  if (tree.is_leaf()) return BasicTree<Result>(Result(function(tree.leaf(), others.leaf()...)));
  if (tree.is_list()) {
    typename BasicTree<Result>::List items;
    items.reserve(tree.items().size());
    for (std::size_t i = 0; i < tree.items().size(); ++i) {
      items.push_back(map_level<Result>(function, tree.items()[i], others.items()[i]...));
    }
    return BasicTree<Result>(std::move(items));
  }
  if (tree.is_dict()) {
    typename BasicTree<Result>::Dict entries;
    for (const auto& [key, entry] : tree.entries()) {
      entries.emplace_hint(
          entries.end(), key,
          map_level<Result>(function, entry, others.entries().find(key)->second...));
    }
    return BasicTree<Result>(std::move(entries));
  }
  return {};
}

template <class Result, class Function, class Leaf>
[[nodiscard]] BasicTree<Result> map_level_with_path(Function& function, KeyPath& path,
                                                    const BasicTree<Leaf>& tree) {
  if (tree.is_leaf()) return BasicTree<Result>(Result(function(std::as_const(path), tree.leaf())));
  if (tree.is_list()) {
    typename BasicTree<Result>::List items;
    items.reserve(tree.items().size());
    for (std::size_t i = 0; i < tree.items().size(); ++i) {
      path.emplace_back(i);
      items.push_back(map_level_with_path<Result>(function, path, tree.items()[i]));
      path.pop_back();
    }
    return BasicTree<Result>(std::move(items));
  }
  if (tree.is_dict()) {
    typename BasicTree<Result>::Dict entries;
    for (const auto& [key, entry] : tree.entries()) {
      path.emplace_back(key);
      entries.emplace_hint(entries.end(), key, map_level_with_path<Result>(function, path, entry));
      path.pop_back();
    }
    return BasicTree<Result>(std::move(entries));
  }
  return {};
}

}  // namespace tree_internal

template <class Leaf>
TreeStructure structure_of(const BasicTree<Leaf>& tree) {
  if (tree.is_leaf()) return TreeStructure::leaf();
  std::vector<TreeStructure> children;
  if (tree.is_list()) {
    children.reserve(tree.items().size());
    for (const BasicTree<Leaf>& item : tree.items()) children.push_back(structure_of(item));
    return TreeStructure::list(std::move(children));
  }
  if (tree.is_dict()) {
    std::vector<std::string> keys;
    keys.reserve(tree.entries().size());
    children.reserve(tree.entries().size());
    for (const auto& [key, entry] : tree.entries()) {
      keys.push_back(key);
      children.push_back(structure_of(entry));
    }
    return TreeStructure::dict(std::move(keys), std::move(children));
  }
  return {};
}

template <class Leaf>
std::vector<Leaf> flatten(const BasicTree<Leaf>& tree) {
  std::vector<Leaf> leaves;
  tree_internal::append_leaves(tree, leaves);
  return leaves;
}

template <class Leaf>
BasicTree<Leaf> unflatten(const TreeStructure& structure, std::span<const Leaf> leaves) {
  if (leaves.size() != structure.num_leaves()) {
    throw_value_error("unflatten", "the structure " + structure.to_string() + " has places for " +
                                       std::to_string(structure.num_leaves()) + " leaves, got " +
                                       std::to_string(leaves.size()));
  }
  const Leaf* next = leaves.data();
  return tree_internal::build<Leaf>(structure, next);
}

template <class Leaf>
BasicTree<Leaf> unflatten(const TreeStructure& structure, const std::vector<Leaf>& leaves) {
  return unflatten(structure, std::span<const Leaf>(leaves));
}

template <class Leaf, class Function>
void for_each_leaf(const BasicTree<Leaf>& tree, Function&& function) {
  KeyPath path;
  tree_internal::visit_leaves(tree, path, function);
}

template <class Predicate, class Leaf>
bool all_leaves(Predicate&& predicate, const BasicTree<Leaf>& tree) {
  if (tree.is_leaf()) return predicate(tree.leaf());
  if (tree.is_list()) {
    for (const BasicTree<Leaf>& item : tree.items()) {
      if (!all_leaves(predicate, item)) return false;
    }
  } else if (tree.is_dict()) {
    for (const auto& [key, entry] : tree.entries()) {
      if (!all_leaves(predicate, entry)) return false;
    }
  }
  return true;
}

template <class Function, class Leaf, class... Others>
auto map_tree(Function&& function, const BasicTree<Leaf>& tree,
              const BasicTree<Others>&... others) {
  using Result = std::decay_t<std::invoke_result_t<Function&, const Leaf&, const Others&...>>;
  [[maybe_unused]] const auto check = [&tree](const auto& other) {
    if (tree_internal::same_structure(tree, other)) return;
    check_same_structure("map_tree", structure_of(tree), structure_of(other));
  };
  (check(others), ...);
  return tree_internal::map_level<Result>(function, tree, others...);
}

template <class Function, class Leaf>
auto map_tree_with_path(Function&& function, const BasicTree<Leaf>& tree) {
  using Result = std::decay_t<std::invoke_result_t<Function&, const KeyPath&, const Leaf&>>;
  KeyPath path;
  return tree_internal::map_level_with_path<Result>(function, path, tree);
}

}  // namespace lockstep
