#pragma once
/// Shapes: the lengths of an array's dimensions, outermost first.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

using Shape = std::vector<std::int64_t>;

/// "(8, 3)", "(8,)", "()".
[[nodiscard]] std::string to_string(const Shape& shape);

/// Number of elements; 1 for (). ValueError where a length is negative or the product overflows
/// int64.
[[nodiscard]] std::int64_t num_elements(std::span<const std::int64_t> shape);

}  // namespace lockstep
