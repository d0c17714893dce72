#include "lockstep/array/shape.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep {

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  text += shape.size() == 1 ? ",)" : ")";
  return text;
}

std::int64_t num_elements(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (const std::int64_t length : shape) {
    if (length < 0) {
      throw_value_error("shape", fmt::format("{} has the negative length {}; lengths are 0 or more",
                                             to_string(Shape(shape.begin(), shape.end())), length));
    }
    if (length == 0) empty = true;
    if (__builtin_mul_overflow(count, length, &count)) overflow = true;
  }
  if (empty) return 0;
  if (overflow) {
    throw_value_error("shape", fmt::format("{} has more elements than a 64-bit integer counts",
                                           to_string(Shape(shape.begin(), shape.end()))));
  }
  return count;
}

}  // namespace lockstep
