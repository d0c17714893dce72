#include "trace/constant_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace lockstep {
namespace {

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// MLIR wants a point in the mantissa of every float: "1.0e-05".
template <class Float>
std::string decimal(Float value) {
  std::string text = fmt::format("{}", value);
  const std::size_t exponent = text.find('e');
  const std::string mantissa = text.substr(0, exponent);
  if (mantissa.find('.') != std::string::npos) return text;
  return mantissa + ".0" + (exponent == std::string::npos ? "" : text.substr(exponent));
}

std::string hex(std::uint64_t bits, int digits) {
  return fmt::format("0x{:0{}X}", bits, digits);
}

// Decimal where MLIR's parser, which goes through double, gives the same bits back; else the bits.
std::string float_text(float value) {
  if (std::isfinite(value)) {
    std::string text = decimal(value);
    double parsed = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), parsed);
    const float back = static_cast<float>(parsed);
    if (std::memcmp(&back, &value, sizeof(float)) == 0) return text;
  }
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return hex(bits, 8);
}

std::string double_text(double value) {
  if (std::isfinite(value)) return decimal(value);
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return hex(bits, 16);
}

// The bits of +infinity and of a NaN in the small float types; where there is no infinity, NaN's.
struct SpecialBits {
  std::uint64_t infinity;
  std::uint64_t nan;
  std::uint64_t sign;
  int digits;
};

SpecialBits special_bits(DType dtype) {
  switch (dtype) {
    case DType::Float16: return {0x7C00, 0x7E00, 0x8000, 4};
    case DType::BFloat16: return {0x7F80, 0x7FC0, 0x8000, 4};
    case DType::Float8E3M4: return {0x70, 0x78, 0x80, 2};
    case DType::Float8E4M3: return {0x78, 0x7C, 0x80, 2};
    case DType::Float8E5M2: return {0x7C, 0x7E, 0x80, 2};
    case DType::Float8E4M3FN: return {0x7F, 0x7F, 0x80, 2};
    case DType::Float8E8M0FNU: return {0xFF, 0xFF, 0, 2};
    default: return {0x80, 0x80, 0, 2};  // the FNUZ types: one NaN, no infinities
  }
}

std::string small_float_text(DType dtype, double value) {
  if (dtype == DType::Float16 && std::isfinite(value)) {
    value = static_cast<double>(static_cast<float>(Float16(static_cast<float>(value))));
  }
  if (dtype == DType::BFloat16 && std::isfinite(value)) {
    value = static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(value))));
  }
  if (std::isfinite(value)) return decimal(value);
  const SpecialBits bits = special_bits(dtype);
  if (std::isnan(value)) return hex(bits.nan, bits.digits);
  return hex(bits.infinity | (value < 0 ? bits.sign : 0), bits.digits);
}

std::string element_at(DType dtype, const std::byte* bytes) {
  switch (dtype) {
    case DType::Bool: return load<std::uint8_t>(bytes) != 0 ? "true" : "false";
    case DType::Int1:
    case DType::Int2:
    case DType::Int4:
    case DType::Int8: return std::to_string(load<std::int8_t>(bytes));
    case DType::Int16: return std::to_string(load<std::int16_t>(bytes));
    case DType::Int32: return std::to_string(load<std::int32_t>(bytes));
    case DType::Int64: return std::to_string(load<std::int64_t>(bytes));
    case DType::UInt1:
    case DType::UInt2:
    case DType::UInt4:
    case DType::UInt8: return std::to_string(load<std::uint8_t>(bytes));
    case DType::UInt16: return std::to_string(load<std::uint16_t>(bytes));
    case DType::UInt32: return std::to_string(load<std::uint32_t>(bytes));
    case DType::UInt64: return std::to_string(load<std::uint64_t>(bytes));
    case DType::Float4E2M1FN: return hex(load<std::uint8_t>(bytes) & 0xFU, 1);
    case DType::Float6E2M3FN:
    case DType::Float6E3M2FN: return hex(load<std::uint8_t>(bytes) & 0x3FU, 2);
    case DType::Float8E3M4:
    case DType::Float8E4M3:
    case DType::Float8E4M3FN:
    case DType::Float8E4M3B11FNUZ:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E8M0FNU: return hex(load<std::uint8_t>(bytes), 2);
    case DType::Float16: {
      const auto value = static_cast<float>(load<Float16>(bytes));
      return std::isfinite(value) ? decimal(value) : hex(load<std::uint16_t>(bytes), 4);
    }
    case DType::BFloat16: {
      const auto value = static_cast<float>(load<BFloat16>(bytes));
      return std::isfinite(value) ? decimal(value) : hex(load<std::uint16_t>(bytes), 4);
    }
    case DType::Float32: return float_text(load<float>(bytes));
    case DType::Float64: return double_text(load<double>(bytes));
    case DType::Complex64:
      return "(" + float_text(load<float>(bytes)) + ", " + float_text(load<float>(bytes + 4)) + ")";
    case DType::Complex128:
      return "(" + double_text(load<double>(bytes)) + ", " + double_text(load<double>(bytes + 8)) +
             ")";
  }
  return {};
}

}  // namespace

std::string element_text(DType dtype, double value) {
  if (dtype == DType::Bool) return value != 0.0 ? "true" : "false";
  if (is_complex(dtype)) {
    const bool narrow = dtype == DType::Complex64;
    return narrow ? "(" + float_text(static_cast<float>(value)) + ", 0.0)"
                  : "(" + double_text(value) + ", 0.0)";
  }
  if (is_unsigned_integer(dtype)) return std::to_string(static_cast<std::uint64_t>(value));
  if (is_integer(dtype)) return std::to_string(static_cast<std::int64_t>(value));
  if (dtype == DType::Float32) return float_text(static_cast<float>(value));
  if (dtype == DType::Float64) return double_text(value);
  return small_float_text(dtype, value);
}

bool is_splat(const HostTensor& tensor) {
  const HostTensor dense = tensor.contiguous();
  const std::size_t width = byte_size(dense.dtype());
  const std::size_t total = dense.num_bytes();
  // Every element equals its successor if the bytes equal themselves one element later.
  return total > 0 && std::memcmp(dense.data(), dense.data() + width, total - width) == 0;
}

std::string dense_text(const HostTensor& tensor) {
  const HostTensor dense = tensor.contiguous();
  if (dense.size() == 0) return "dense<>";
  if (is_splat(dense)) return "dense<" + element_at(dense.dtype(), dense.data()) + ">";
  const Shape& shape = dense.shape();
  const std::size_t width = byte_size(dense.dtype());
  std::string text = "dense<";
  // A bracket opens or closes wherever an index of a dimension starts or ends.
  for (std::int64_t i = 0; i < dense.size(); ++i) {
    if (i > 0) text += ", ";
    std::int64_t block = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      block *= shape[d];
      if (i % block == 0) text += '[';
    }
    text += element_at(dense.dtype(), dense.data() + static_cast<std::size_t>(i) * width);
    block = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      block *= shape[d];
      if ((i + 1) % block == 0) text += ']';
    }
  }
  return text + ">";
}

}  // namespace lockstep
