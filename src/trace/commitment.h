#pragma once
// Results follow the arrays they are made of: to devices that were chosen, or not yet.
#include <algorithm>
#include <span>

#include "lockstep/array/array.h"

namespace lockstep {

[[nodiscard]] inline bool any_committed(std::span<const Array> arrays) {
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const Array& array) { return array.is_committed(); });
}

// Lets arrays on devices follow others from now on.
inline void uncommit(std::span<Array> arrays) {
  for (Array& array : arrays) array = array.with_commitment(false);
}

}  // namespace lockstep
