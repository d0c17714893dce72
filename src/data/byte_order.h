#pragma once
/// Byte order of file formats.
#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep::data {

/// The unsigned number of big-endian `bytes` (at most eight).
[[nodiscard]] constexpr std::uint64_t big_endian_number(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes) number = number << 8U | std::to_integer<std::uint64_t>(byte);
  return number;
}

/// The unsigned number of little-endian `bytes` (at most eight).
[[nodiscard]] constexpr std::uint64_t little_endian_number(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t place = bytes.size(); place > 0; --place) {
    number = number << 8U | std::to_integer<std::uint64_t>(bytes[place - 1]);
  }
  return number;
}

/// Reverses the bytes of every group of `width` (1, 2, 4 or 8).
void reverse_each(std::span<std::byte> bytes, std::size_t width);

}  // namespace lockstep::data
