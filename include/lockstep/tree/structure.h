#pragma once
/// The shape of a tree without its leaves.
#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "lockstep/tree/key_path.h"

namespace lockstep {

/// A tree's structure: what is left when its leaves are taken out. Comparable.
class TreeStructure {
 public:
  enum class Kind { None, Leaf, List, Dict };

  TreeStructure() = default;  ///< The structure of None.
  [[nodiscard]] static TreeStructure leaf();
  [[nodiscard]] static TreeStructure list(std::vector<TreeStructure> children);
  /// `keys` must be sorted and as many as `children`.
  [[nodiscard]] static TreeStructure dict(std::vector<std::string> keys,
                                          std::vector<TreeStructure> children);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }
  [[nodiscard]] const std::vector<TreeStructure>& children() const { return children_; }
  [[nodiscard]] std::size_t num_leaves() const { return num_leaves_; }

  /// The path of every leaf, in flattening order.
  [[nodiscard]] std::vector<KeyPath> leaf_paths() const;

  /// As JAX prints it: "{'b': *, 'w': [*, None]}".
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] bool operator==(const TreeStructure&) const = default;

 private:
  Kind kind_ = Kind::None;
  std::vector<std::string> keys_;
  std::vector<TreeStructure> children_;
  std::size_t num_leaves_ = 0;
};

}  // namespace lockstep
