#include "data/tensor_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>

#include "data/byte_order.h"
#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

std::uint64_t checked_bytes(std::string_view where, const ByteSource& source, DType dtype,
                            const Shape& shape) {
  std::int64_t bytes = static_cast<std::int64_t>(byte_size(dtype));
  bool is_too_much = false;
  bool is_empty = false;
  for (const std::int64_t length : shape) {
    is_empty = is_empty || length == 0;
    is_too_much = is_too_much || (length > 0 && __builtin_mul_overflow(bytes, length, &bytes));
  }
  if (is_too_much) {
    throw_value_error(where, fmt::format("{} claims {} of shape {}, more bytes than 63 bits count; "
                                         "its header is broken",
                                         source.description(), to_string(dtype), to_string(shape)));
  }
  return is_empty ? 0 : static_cast<std::uint64_t>(bytes);
}

HostTensor empty_tensor(std::string_view where, const ByteSource& source, DType dtype,
                        const Shape& shape, std::uint64_t bytes) {
  try {
    return HostTensor::empty(dtype, shape);
  } catch (const std::bad_alloc&) {
    throw_runtime_error(
        where, fmt::format("{} holds {} of shape {}, {} bytes: there is not so much "
                           "memory free",
                           source.description(), to_string(dtype), to_string(shape), bytes));
  }
}

}  // namespace

HostTensor read_elements(std::string_view where, ByteSource& source, DType dtype,
                         const Shape& shape, std::size_t swap_width) {
  const std::uint64_t expected = checked_bytes(where, source, dtype, shape);
  const std::uint64_t header_bytes = source.position();
  const std::uint64_t most = source.most_bytes() - std::min(header_bytes, source.most_bytes());
  const auto fail_cut = [&](std::uint64_t found, std::string_view at_most) {
    throw_value_error(where, fmt::format("{} is cut: {} of shape {} take {} bytes after the header "
                                         "of {}, found {}{}; fetch the file again",
                                         source.description(), to_string(dtype), to_string(shape),
                                         expected, header_bytes, at_most, found));
  };
  if (expected > most) fail_cut(most, source.is_gzip() ? "at most " : "");

  HostTensor tensor = empty_tensor(where, source, dtype, shape, expected);
  const std::span<std::byte> bytes(tensor.mutable_bytes(), static_cast<std::size_t>(expected));
  const std::size_t found = source.read(bytes);
  if (found < expected) fail_cut(found, "");
  std::array<std::byte, 1> further{};
  if (source.read(further) > 0) {
    const std::string count = source.is_gzip() ? "more" : fmt::format("{}", most);
    throw_value_error(
        where, fmt::format("{} has bytes too many: {} of shape {} take {} bytes after "
                           "the header of {}, found {}; its header or its end is "
                           "wrong",
                           source.description(), to_string(dtype), to_string(shape), expected,
                           header_bytes, count));
  }
  reverse_each(bytes, swap_width);
  return tensor;
}

}  // namespace lockstep::data
