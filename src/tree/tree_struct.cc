#include "lockstep/tree/tree_struct.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {
namespace {

std::string message(const KeyPath& path, const std::string& reason) {
  return fmt::format("[from_tree] {}: {}",
                     path.empty() ? "at the root" : "at '" + to_string(path) + "'", reason);
}

std::string quoted(const auto& names) {
  std::string text;
  for (const std::string_view name : names)
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  return text.empty() ? "none" : text;
}

}  // namespace

TreeMismatch::TreeMismatch(KeyPath path, std::string reason)
    : ValueError(message(path, reason)), path_(std::move(path)), reason_(std::move(reason)) {}

namespace tree_internal {

void rethrow_below(std::variant<std::string, std::size_t> key) {
  KeyPath path{std::move(key)};
  try {
    throw;
  } catch (const TreeMismatch& error) {
    path.insert(path.end(), error.path().begin(), error.path().end());
    throw TreeMismatch(std::move(path), error.reason());
  } catch (const ValueError& error) {
    throw TreeMismatch(std::move(path), error.what());
  }
}

void throw_expected(std::string_view wanted, std::string_view found) {
  throw TreeMismatch({}, fmt::format("expected {}, found {}", wanted, found));
}

void check_length(std::size_t expected, std::size_t found) {
  if (expected == found) return;
  throw TreeMismatch({}, fmt::format("expected a list of {}, found one of {}", expected, found));
}

void check_names(std::span<const std::string_view> names) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (name->empty()) {
      throw_value_error("tree_fields", fmt::format("field {} has no name; name every field",
                                                   name - names.begin()));
    }
    if (std::find(names.begin(), name, *name) != name) {
      throw_value_error("tree_fields",
                        fmt::format("the name '{}' is listed twice; names must differ", *name));
    }
  }
}

void check_keys(std::span<const std::string_view> names,
                const std::vector<std::string_view>& keys) {
  const auto first_not_in = [](const auto& wanted, const auto& there) {
    return std::ranges::find_if(wanted, [&](std::string_view name) {
      return std::ranges::find(there, name) == there.end();
    });
  };
  const auto missing = first_not_in(names, keys);
  if (missing != names.end()) {
    throw TreeMismatch({}, fmt::format("there is no entry '{}', a field of the struct; the entries "
                                       "are: {}",
                                       *missing, quoted(keys)));
  }
  const auto unknown = first_not_in(keys, names);
  if (unknown != keys.end()) {
    throw TreeMismatch(
        {}, fmt::format("the entry '{}' is no field of the struct; the fields are: {}", *unknown,
                        quoted(names)));
  }
}

}  // namespace tree_internal
}  // namespace lockstep
