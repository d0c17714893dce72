#pragma once
/// Reading the state of a source back from a tree.
#include <cstdint>
#include <string_view>

#include "lockstep/array/array.h"

namespace lockstep::data {

/// The leaf `name` of a state; ValueError with `where` and the name where there is none.
[[nodiscard]] const Array& state_entry(std::string_view where, const Tree& state,
                                       std::string_view name);

/// The integer scalar `name`; ValueError where it is none or negative.
[[nodiscard]] std::int64_t state_counter(std::string_view where, const Tree& state,
                                         std::string_view name);

}  // namespace lockstep::data
