#pragma once
/// Where a leaf sits in a tree: the keys and indices from the root to it.
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace lockstep {

/// A dict key or a list index, one for each level from the root.
using KeyPath = std::vector<std::variant<std::string, std::size_t>>;

/// "layers/2/weight"; the root is "".
[[nodiscard]] std::string to_string(const KeyPath& path);

}  // namespace lockstep
