#include "lockstep/data/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_order.h"
#include "data/byte_source.h"
#include "data/npy_header.h"
#include "data/tensor_reading.h"
#include "lockstep/base/error.h"
#include "lockstep/base/number_text.h"

namespace lockstep::data {
namespace {

constexpr std::string_view where = "read_npy";
// A header names one type and one shape; more than this is no header.
constexpr std::uint64_t most_header_bytes = std::uint64_t{16} << 20U;

// What a descr such as ">f4" says.
struct ElementFormat {
  DType dtype;
  std::size_t swap_width;  // bytes of each number that is to be reversed; 1 for none
};

std::optional<DType> numpy_dtype(char kind, std::int64_t size) {
  struct Known {
    char kind;
    std::int64_t size;
    DType dtype;
  };
  static constexpr Known known[] = {
      {'b', 1, DType::Bool},      {'i', 1, DType::Int8},        {'i', 2, DType::Int16},
      {'i', 4, DType::Int32},     {'i', 8, DType::Int64},       {'u', 1, DType::UInt8},
      {'u', 2, DType::UInt16},    {'u', 4, DType::UInt32},      {'u', 8, DType::UInt64},
      {'f', 2, DType::Float16},   {'f', 4, DType::Float32},     {'f', 8, DType::Float64},
      {'c', 8, DType::Complex64}, {'c', 16, DType::Complex128},
  };
  for (const Known& entry : known) {
    if (entry.kind == kind && entry.size == size) return entry.dtype;
  }
  return std::nullopt;
}

std::string_view kind_name(char kind) {
  switch (kind) {
    case 'O': return "Python objects";
    case 'U':
    case 'S':
    case 'a': return "text";
    case 'M':
    case 'm': return "dates or times";
    default: return "a type that no DType has";
  }
}

[[noreturn]] void refuse_type(const ByteSource& source, std::string_view descr,
                              std::string_view meaning) {
  throw_value_error(where, fmt::format("{} holds elements of dtype '{}': {}; expected bool, "
                                       "integers, floats or complex numbers. Convert the array "
                                       "before saving it",
                                       source.description(), descr, meaning));
}

DType void_dtype(const ByteSource& source, std::string_view descr, std::int64_t size,
                 const NpyOptions& options) {
  if (!options.void_dtype) {
    const std::string_view offer =
        size == 2
            ? "NumPy writes bfloat16 so: set NpyOptions::void_dtype to bfloat16 to read as "
              "bfloat16"
            : "NumPy writes types of ml_dtypes so: set NpyOptions::void_dtype to the one meant";
    throw_value_error(where, fmt::format("{} holds elements of dtype '{}', raw void of {} byte(s). "
                                         "{}, or save the array under another dtype",
                                         source.description(), descr, size, offer));
  }
  if (static_cast<std::int64_t>(byte_size(*options.void_dtype)) != size) {
    throw_value_error(where,
                      fmt::format("{} holds elements of dtype '{}', {} byte(s) each; "
                                  "NpyOptions::void_dtype is {}, which takes {}",
                                  source.description(), descr, size, to_string(*options.void_dtype),
                                  byte_size(*options.void_dtype)));
  }
  return *options.void_dtype;
}

ElementFormat element_format(const ByteSource& source, const NpyHeader& header,
                             const NpyOptions& options) {
  const std::string_view descr = header.descr;
  if (header.is_structured) refuse_type(source, descr, "a structure of fields");
  constexpr std::string_view orders = "<>=|";
  const bool has_order = !descr.empty() && orders.find(descr.front()) != std::string_view::npos;
  const std::string_view type = descr.substr(has_order ? 1 : 0);
  const char kind = type.empty() ? '\0' : type.front();
  const std::int64_t size = parse_integer(type.substr(type.empty() ? 0 : 1)).value_or(0);
  if (kind == 'V' && size > 0) return {void_dtype(source, descr, size, options), 1};
  const std::optional<DType> dtype = numpy_dtype(kind, size);
  if (!dtype) refuse_type(source, descr, kind_name(kind));
  const std::size_t number_bytes = byte_size(*dtype) / (is_complex(*dtype) ? 2 : 1);
  return {*dtype, descr.front() == '>' ? number_bytes : 1};
}

void read_exactly(ByteSource& source, std::span<std::byte> destination) {
  const std::size_t found = source.read(destination);
  if (found == destination.size()) return;
  throw_value_error(where, fmt::format("{} is cut inside its header: {} bytes expected at byte {}, "
                                       "found {}",
                                       source.description(), destination.size(),
                                       source.position() - found, found));
}

std::string read_header_text(ByteSource& source) {
  std::array<std::byte, 8> start{};
  const std::size_t found = source.read(start);
  constexpr std::string_view magic = "\x93NUMPY";
  const std::string_view start_text(reinterpret_cast<const char*>(start.data()), magic.size());
  if (found < start.size() || start_text != magic) {
    std::string shown;
    for (const std::byte byte : std::span(start).first(std::min(found, magic.size()))) {
      shown += fmt::format("{:02x} ", std::to_integer<unsigned>(byte));
    }
    throw_value_error(where, fmt::format("{} is no NPY file: it begins with bytes {}; expected "
                                         "93 4e 55 4d 50 59 (\\x93NUMPY) and a version",
                                         source.description(), shown.empty() ? "(none)" : shown));
  }
  const auto major = std::to_integer<unsigned>(start[6]);
  const auto minor = std::to_integer<unsigned>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw_value_error(where,
                      fmt::format("{} has NPY format version {}.{}; expected 1.0, 2.0 or 3.0",
                                  source.description(), major, minor));
  }
  std::array<std::byte, 4> length_bytes{};
  const std::span<std::byte> length_part = std::span(length_bytes).first(major == 1 ? 2 : 4);
  read_exactly(source, length_part);
  const std::uint64_t length = little_endian_number(length_part);
  const std::uint64_t left = source.most_bytes() - std::min(source.most_bytes(), source.position());
  if (length > left || length > most_header_bytes) {
    throw_value_error(where,
                      fmt::format("{} claims a header of {} bytes; at most {} are left in it, "
                                  "and at most {} are read",
                                  source.description(), length, left, most_header_bytes));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  read_exactly(source, std::as_writable_bytes(std::span(text)));
  return text;
}

NpyHeader read_header(ByteSource& source) {
  const std::string text = read_header_text(source);
  try {
    return parse_npy_header(text);
  } catch (const ValueError& error) {
    throw_value_error(
        where, fmt::format("{} has a broken header: {}", source.description(), error.what()));
  }
}

// NumPy takes any byte but zero for true; a device's bool is one or zero.
void normalise_bools(HostTensor& tensor) {
  const std::span<std::byte> bytes(tensor.mutable_bytes(), tensor.num_bytes());
  std::transform(bytes.begin(), bytes.end(), bytes.begin(),
                 [](std::byte byte) { return byte == std::byte{0} ? byte : std::byte{1}; });
}

}  // namespace

HostTensor read_npy(const std::filesystem::path& path, const NpyOptions& options) {
  ByteSource source(where, path);
  const NpyHeader header = read_header(source);
  const ElementFormat format = element_format(source, header, options);
  Shape stored_shape = header.shape;
  if (header.fortran_order) std::reverse(stored_shape.begin(), stored_shape.end());
  HostTensor tensor = read_elements(where, source, format.dtype, stored_shape, format.swap_width);
  if (format.dtype == DType::Bool) normalise_bools(tensor);
  if (!header.fortran_order || header.shape.size() < 2) return tensor;
  std::vector<std::int64_t> reversed(header.shape.size());
  for (std::size_t axis = 0; axis < reversed.size(); ++axis) {
    reversed[axis] = static_cast<std::int64_t>(reversed.size() - 1 - axis);
  }
  return tensor.transpose(reversed).contiguous();
}

}  // namespace lockstep::data
