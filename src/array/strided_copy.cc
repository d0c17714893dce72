#include "array/strided_copy.h"

#include <algorithm>
#include <cstring>

namespace lockstep::array_internal {
namespace {

struct Dimension {
  std::int64_t length;
  std::int64_t source_stride;
  std::int64_t destination_stride;
};

// Without dimensions of length 1, and with those joined that both sides walk in one stride.
std::vector<Dimension> simplify(std::span<const std::int64_t> shape,
                                std::span<const std::int64_t> source_strides,
                                std::span<const std::int64_t> destination_strides) {
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    const Dimension inner{shape[i], source_strides[i], destination_strides[i]};
    if (!dimensions.empty()) {
      Dimension& outer = dimensions.back();
      if (outer.source_stride == inner.source_stride * inner.length &&
          outer.destination_stride == inner.destination_stride * inner.length) {
        outer = {outer.length * inner.length, inner.source_stride, inner.destination_stride};
        continue;
      }
    }
    dimensions.push_back(inner);
  }
  return dimensions;
}

template <std::size_t Size>
void copy_line(const std::byte* source, std::byte* destination, const Dimension& line) {
  for (std::int64_t i = 0; i < line.length; ++i) {
    std::memcpy(destination, source, Size);
    source += line.source_stride;
    destination += line.destination_stride;
  }
}

template <std::size_t Size>
void copy_dimensions(const std::byte* source, std::byte* destination,
                     std::span<const Dimension> dimensions) {
  const Dimension& outer = dimensions.front();
  if (dimensions.size() == 1) {
    if (outer.source_stride == static_cast<std::int64_t>(Size) &&
        outer.destination_stride == static_cast<std::int64_t>(Size)) {
      std::memcpy(destination, source, static_cast<std::size_t>(outer.length) * Size);
    } else {
      copy_line<Size>(source, destination, outer);
    }
    return;
  }
  for (std::int64_t i = 0; i < outer.length; ++i) {
    copy_dimensions<Size>(source, destination, dimensions.subspan(1));
    source += outer.source_stride;
    destination += outer.destination_stride;
  }
}

}  // namespace

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape,
                                            std::size_t element_size) {
  std::vector<std::int64_t> strides(shape.size());
  auto stride = static_cast<std::int64_t>(element_size);
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

bool is_row_major(std::span<const std::int64_t> shape, std::span<const std::int64_t> byte_strides,
                  std::size_t element_size) {
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  auto expected = static_cast<std::int64_t>(element_size);
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (byte_strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

void copy_strided(const std::byte* source, std::span<const std::int64_t> source_strides,
                  std::byte* destination, std::span<const std::int64_t> destination_strides,
                  std::span<const std::int64_t> shape, std::size_t element_size) {
  if (std::ranges::find(shape, 0) != shape.end()) return;
  const std::vector<Dimension> dimensions = simplify(shape, source_strides, destination_strides);
  if (dimensions.empty()) {
    std::memcpy(destination, source, element_size);
    return;
  }
  switch (element_size) {
    case 1: return copy_dimensions<1>(source, destination, dimensions);
    case 2: return copy_dimensions<2>(source, destination, dimensions);
    case 4: return copy_dimensions<4>(source, destination, dimensions);
    case 8: return copy_dimensions<8>(source, destination, dimensions);
    default: return copy_dimensions<16>(source, destination, dimensions);
  }
}

}  // namespace lockstep::array_internal
