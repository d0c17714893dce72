#pragma once
/// Pytrees: nested dicts and lists of leaves of one type, as in JAX.
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/tree/key_path.h"
#include "lockstep/tree/structure.h"

namespace lockstep {

/// A struct that lists its fields by a member tree_fields(); see tree_struct.h.
template <class T>
concept TreeStruct = requires(T& value) { value.tree_fields(); };

/// A leaf, nothing (None), a list of trees, or a dict of trees by name.
/// Dicts are ordered by key, lists by index, so equal structures flatten alike (JAX's order).
/// A value type: copies are deep in structure; leaves are copied as their type copies.
template <class Leaf>
class BasicTree {
 public:
  using List = std::vector<BasicTree>;
  using Dict = std::map<std::string, BasicTree, std::less<>>;

  BasicTree() = default;                             ///< None: an empty place without a leaf.
  BasicTree(Leaf leaf) : value_(std::move(leaf)) {}  // NOLINT: a leaf is a tree
  /// What converts to a leaf is one: a HostTensor or a number where leaves are arrays.
  template <class T>
    requires(!std::same_as<std::remove_cvref_t<T>, BasicTree> &&
             !std::same_as<std::remove_cvref_t<T>, Leaf> &&
             !std::same_as<std::remove_cvref_t<T>, std::vector<BasicTree>> &&
             !std::same_as<std::remove_cvref_t<T>, std::map<std::string, BasicTree, std::less<>>> &&
             std::convertible_to<T, Leaf>)
  BasicTree(T&& value) : value_(Leaf(std::forward<T>(value))) {}  // NOLINT
  BasicTree(List items) : value_(std::move(items)) {}             // NOLINT: so is a list
  BasicTree(Dict entries) : value_(std::move(entries)) {}         // NOLINT: and a dict
  /// A dict: `Tree{{"image", x}, {"label", y}}`.
  BasicTree(std::initializer_list<std::pair<const std::string, BasicTree>> entries)
      : value_(Dict(entries)) {}
  /// A struct is the dict of its fields (include tree_struct.h).
  template <TreeStruct T>
  BasicTree(const T& value);  // NOLINT

  /// A list of the given trees.
  [[nodiscard]] static BasicTree list(std::initializer_list<BasicTree> items) {
    return BasicTree(List(items));
  }

  [[nodiscard]] bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  [[nodiscard]] bool is_leaf() const { return std::holds_alternative<Leaf>(value_); }
  [[nodiscard]] bool is_list() const { return std::holds_alternative<List>(value_); }
  [[nodiscard]] bool is_dict() const { return std::holds_alternative<Dict>(value_); }

  /// The leaf, list or dict that this tree is; ValueError naming what it is instead.
  [[nodiscard]] const Leaf& leaf() const { return get<Leaf>("leaf"); }
  [[nodiscard]] Leaf& leaf() { return get<Leaf>("leaf"); }
  [[nodiscard]] const List& items() const { return get<List>("list"); }
  [[nodiscard]] List& items() { return get<List>("list"); }
  [[nodiscard]] const Dict& entries() const { return get<Dict>("dict"); }
  [[nodiscard]] Dict& entries() { return get<Dict>("dict"); }

  /// Leaf access where a leaf is expected: `loss(batch["image"])`.
  operator const Leaf&() const { return leaf(); }  // NOLINT: trees stand in for their leaf

  /// The entry of a dict; ValueError listing the keys where there is none.
  [[nodiscard]] const BasicTree& operator[](std::string_view key) const {
    const Dict& dict = entries();
    if (auto found = dict.find(key); found != dict.end()) return found->second;
    throw_value_error("tree", "no entry '" + std::string(key) + "'; the keys are: " + keys());
  }
  /// The entry of a dict, made where there is none; a None tree becomes a dict.
  [[nodiscard]] BasicTree& operator[](std::string_view key) {
    if (is_none()) value_ = Dict{};
    Dict& dict = entries();
    auto found = dict.find(key);
    if (found == dict.end()) found = dict.emplace(std::string(key), BasicTree()).first;
    return found->second;
  }
  [[nodiscard]] const BasicTree& operator[](const char* key) const {
    return (*this)[std::string_view(key)];
  }
  [[nodiscard]] BasicTree& operator[](const char* key) { return (*this)[std::string_view(key)]; }

  /// Item of a list; ValueError naming index and size where it is out of range.
  /// (A template, so that `tree[0]` is an index and not a null pointer to a key.)
  template <std::integral Index>
  [[nodiscard]] const BasicTree& operator[](Index index) const {
    return items()[checked_index(index)];
  }
  template <std::integral Index>
  [[nodiscard]] BasicTree& operator[](Index index) {
    return items()[checked_index(index)];
  }

  [[nodiscard]] bool contains(std::string_view key) const {
    return is_dict() && entries().find(key) != entries().end();
  }

  /// "None", "a leaf", "a list" or "a dict".
  [[nodiscard]] std::string_view kind() const {
    constexpr std::string_view names[] = {"None", "a leaf", "a list", "a dict"};
    return names[value_.index()];
  }

 private:
  template <class T>
  [[nodiscard]] const T& get(std::string_view wanted) const {
    if (const T* value = std::get_if<T>(&value_)) return *value;
    throw_value_error("tree",
                      "expected a " + std::string(wanted) + ", found " + std::string(kind()));
  }
  template <class T>
  [[nodiscard]] T& get(std::string_view wanted) {
    return const_cast<T&>(std::as_const(*this).template get<T>(wanted));
  }
  template <std::integral Index>
  [[nodiscard]] std::size_t checked_index(Index index) const {
    if (std::cmp_greater_equal(index, 0) && std::cmp_less(index, items().size())) {
      return static_cast<std::size_t>(index);
    }
    throw_value_error("tree", "index " + std::to_string(index) + " is out of range for a list of " +
                                  std::to_string(items().size()));
  }
  [[nodiscard]] std::string keys() const {
    std::string text;
    for (const auto& [key, unused] : entries()) text += (text.empty() ? "" : ", ") + key;
    return text.empty() ? "(none)" : text;
  }

  std::variant<std::monostate, Leaf, List, Dict> value_;
};

}  // namespace lockstep
