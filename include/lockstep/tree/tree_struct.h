#pragma once
/// C++ types as trees: structs that list their fields, and standard containers of them.
///
///     struct Params {
///       Array w;
///       Array b;
///       auto tree_fields() { return lockstep::fields("w", w, "b", b); }
///     };
///     Tree state = Params{w, b};                     // {"b": b, "w": w}
///     Params params = from_tree<Params>(state);
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/tree/tree.h"

namespace lockstep {

class Array;  // the leaf of trees unless another is named

/// What tree_fields() returns: a struct's fields by name, in the order they were listed.
template <class... Members>
struct Fields {
  std::array<std::string_view, sizeof...(Members)> names;
  std::tuple<Members&...> members;
};

/// Lists a struct's fields, each after its name: `fields("w", w, "b", b)`. The names become the
/// keys of the struct's dict; they must differ and may not be empty (checked when a tree is made).
template <class... NamesAndMembers>
[[nodiscard]] auto fields(NamesAndMembers&&... names_and_members);

/// How a C++ type is a tree of `Leaf`s: `to_tree(value)` and `from_tree(tree)`. There are
/// conversions for leaves, trees, structs with tree_fields() (a dict), std::optional (None where
/// empty), vectors, arrays, tuples and pairs (lists), and maps from strings (dicts). Specialise it
/// for types of your own.
template <class T, class Leaf = Array>
struct TreeConversion;

/// The value as a tree; ValueError for a struct whose names repeat or are empty.
template <class Leaf = Array, class T>
[[nodiscard]] BasicTree<Leaf> to_tree(const T& value);

/// The value that `tree` holds; TreeMismatch where the tree does not have T's form: an entry is
/// missing or not known, a list is too long or too short, or a leaf stands where a dict or list is
/// expected.
template <class T, class Leaf>
[[nodiscard]] T from_tree(const BasicTree<Leaf>& tree);

/// A tree does not have the form of the type it is read as. The message names the place.
class TreeMismatch : public ValueError {
 public:
  TreeMismatch(KeyPath path, std::string reason);
  [[nodiscard]] const KeyPath& path() const { return path_; }          ///< where, from the root
  [[nodiscard]] const std::string& reason() const { return reason_; }  ///< what is wrong there

 private:
  KeyPath path_;
  std::string reason_;
};

}  // namespace lockstep

#include "lockstep/tree/tree_struct_impl.h"
