#include "lockstep/data/idx.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/byte_order.h"
#include "data/byte_source.h"
#include "data/tensor_reading.h"
#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

constexpr std::string_view where = "read_idx";

std::optional<DType> idx_dtype(std::uint64_t code) {
  switch (code) {
    case 0x08: return DType::UInt8;
    case 0x09: return DType::Int8;
    case 0x0b: return DType::Int16;
    case 0x0c: return DType::Int32;
    case 0x0d: return DType::Float32;
    case 0x0e: return DType::Float64;
    default: return std::nullopt;
  }
}

void read_header_part(ByteSource& source, std::span<std::byte> destination, std::string_view part) {
  const std::size_t found = source.read(destination);
  if (found == destination.size()) return;
  throw_value_error(where,
                    fmt::format("{} is cut inside its header: the {} take {} bytes, found {}",
                                source.description(), part, destination.size(), found));
}

}  // namespace

HostTensor read_idx(const std::filesystem::path& path) {
  ByteSource source(where, path);
  std::array<std::byte, 4> magic_bytes{};
  read_header_part(source, magic_bytes, "bytes of the magic number");
  const std::uint64_t magic = big_endian_number(magic_bytes);
  const std::optional<DType> dtype = idx_dtype(magic >> 8U);
  if (!dtype) {
    throw_value_error(where, fmt::format("{} is no IDX file: its magic number is {} (0x{:08x}); "
                                         "expected 0x0000TTRR with type TT one of 08, 09, 0b, 0c, "
                                         "0d, 0e and rank RR, e.g. 2051 (0x00000803) for images",
                                         source.description(), magic, magic));
  }
  const std::size_t rank = static_cast<std::size_t>(magic & 0xffU);
  std::vector<std::byte> length_bytes(4 * rank);
  read_header_part(source, length_bytes, fmt::format("{} lengths", rank));
  Shape shape(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::uint64_t length = big_endian_number(std::span(length_bytes).subspan(4 * axis, 4));
    shape[axis] = static_cast<std::int64_t>(length);
  }
  return read_elements(where, source, *dtype, shape, byte_size(*dtype));
}

}  // namespace lockstep::data
