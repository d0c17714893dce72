#include "data/state_tree.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep::data {

const Array& state_entry(std::string_view where, const Tree& state, std::string_view name) {
  if (!state.contains(name) || !state[name].is_leaf()) {
    throw_value_error(where, fmt::format("the state {} has no leaf '{}'; expected what state() of "
                                         "the same kind of source gave",
                                         structure_of(state).to_string(), name));
  }
  return state[name].leaf();
}

std::int64_t state_counter(std::string_view where, const Tree& state, std::string_view name) {
  const Array& entry = state_entry(where, state, name);
  const bool is_counter = is_integer(entry.dtype()) && entry.shape().empty();
  const std::int64_t value = is_counter ? entry.item<std::int64_t>() : -1;
  if (value < 0) {
    throw_value_error(where,
                      fmt::format("the state's '{}' is {}{}; expected an integer scalar that "
                                  "is not negative",
                                  name, to_string(entry.abstract_value()),
                                  is_counter ? fmt::format(", {}", value) : ""));
  }
  return value;
}

}  // namespace lockstep::data
