#include "lockstep/tree/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep {
namespace {

std::size_t count_leaves(const std::vector<TreeStructure>& children) {
  std::size_t count = 0;
  for (const TreeStructure& child : children) count += child.num_leaves();
  return count;
}

void append_leaf_paths(const TreeStructure& structure, KeyPath& path, std::vector<KeyPath>& paths) {
  if (structure.kind() == TreeStructure::Kind::Leaf) paths.push_back(path);
  for (std::size_t i = 0; i < structure.children().size(); ++i) {
    if (structure.kind() == TreeStructure::Kind::Dict) {
      path.emplace_back(structure.keys()[i]);
    } else {
      path.emplace_back(i);
    }
    append_leaf_paths(structure.children()[i], path, paths);
    path.pop_back();
  }
}

void append_text(const TreeStructure& structure, std::string& text) {
  switch (structure.kind()) {
    case TreeStructure::Kind::None: text += "None"; return;
    case TreeStructure::Kind::Leaf: text += '*'; return;
    case TreeStructure::Kind::List:
      text += '[';
      for (std::size_t i = 0; i < structure.children().size(); ++i) {
        if (i > 0) text += ", ";
        append_text(structure.children()[i], text);
      }
      text += ']';
      return;
    case TreeStructure::Kind::Dict:
      text += '{';
      for (std::size_t i = 0; i < structure.children().size(); ++i) {
        if (i > 0) text += ", ";
        text += '\'' + structure.keys()[i] + "': ";
        append_text(structure.children()[i], text);
      }
      text += '}';
      return;
  }
}

// What a structure is at its own level, in words for an error.
std::string describe(const TreeStructure& structure) {
  switch (structure.kind()) {
    case TreeStructure::Kind::None: return "None";
    case TreeStructure::Kind::Leaf: return "a leaf";
    case TreeStructure::Kind::List: return fmt::format("a list of {}", structure.children().size());
    case TreeStructure::Kind::Dict: {
      std::string keys;
      for (const std::string& key : structure.keys())
        keys += (keys.empty() ? "'" : ", '") + key + "'";
      return keys.empty() ? "an empty dict" : "a dict of " + keys;
    }
  }
  return "";
}

void check_level(std::string_view where, const TreeStructure& expected, const TreeStructure& found,
                 KeyPath& path) {
  const bool same = expected.kind() == found.kind() && expected.keys() == found.keys() &&
                    expected.children().size() == found.children().size();
  if (!same) {
    const std::string place = path.empty() ? "at the root" : "at '" + to_string(path) + "'";
    throw_value_error(where, fmt::format("the trees differ in structure {}: expected {}, found {}",
                                         place, describe(expected), describe(found)));
  }
  for (std::size_t i = 0; i < expected.children().size(); ++i) {
    if (expected.kind() == TreeStructure::Kind::Dict) {
      path.emplace_back(expected.keys()[i]);
    } else {
      path.emplace_back(i);
    }
    check_level(where, expected.children()[i], found.children()[i], path);
    path.pop_back();
  }
}

}  // namespace

TreeStructure TreeStructure::leaf() {
  TreeStructure structure;
  structure.kind_ = Kind::Leaf;
  structure.num_leaves_ = 1;
  return structure;
}

TreeStructure TreeStructure::list(std::vector<TreeStructure> children) {
  TreeStructure structure;
  structure.kind_ = Kind::List;
  structure.num_leaves_ = count_leaves(children);
  structure.children_ = std::move(children);
  return structure;
}

TreeStructure TreeStructure::dict(std::vector<std::string> keys,
                                  std::vector<TreeStructure> children) {
  if (keys.size() != children.size()) {
    throw_value_error("TreeStructure::dict",
                      fmt::format("{} keys for {} children; every child needs one key", keys.size(),
                                  children.size()));
  }
  const auto unordered = std::adjacent_find(keys.begin(), keys.end(), std::greater_equal<>());
  if (unordered != keys.end()) {
    throw_value_error("TreeStructure::dict",
                      fmt::format("key '{}' stands before '{}'; keys must be sorted and distinct",
                                  *unordered, *std::next(unordered)));
  }
  TreeStructure structure;
  structure.kind_ = Kind::Dict;
  structure.num_leaves_ = count_leaves(children);
  structure.keys_ = std::move(keys);
  structure.children_ = std::move(children);
  return structure;
}

std::vector<KeyPath> TreeStructure::leaf_paths() const {
  std::vector<KeyPath> paths;
  paths.reserve(num_leaves_);
  KeyPath path;
  append_leaf_paths(*this, path, paths);
  return paths;
}

std::string TreeStructure::to_string() const {
  std::string text;
  append_text(*this, text);
  return text;
}

void check_same_structure(std::string_view where, const TreeStructure& expected,
                          const TreeStructure& found) {
  if (expected == found) return;
  KeyPath path;
  check_level(where, expected, found, path);
}

}  // namespace lockstep
