#pragma once
// Copies between memory of any strides.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::array_internal {

// Row-major byte strides of a shape.
[[nodiscard]] std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape,
                                                          std::size_t element_size);

// Whether these strides are row-major without gaps; those of dimensions of length 1 do not matter,
// and none does where there is no element.
[[nodiscard]] bool is_row_major(std::span<const std::int64_t> shape,
                                std::span<const std::int64_t> byte_strides,
                                std::size_t element_size);

// Copies every element; both sides have `shape` and point at element (0, ..., 0).
void copy_strided(const std::byte* source, std::span<const std::int64_t> source_strides,
                  std::byte* destination, std::span<const std::int64_t> destination_strides,
                  std::span<const std::int64_t> shape, std::size_t element_size);

}  // namespace lockstep::array_internal
