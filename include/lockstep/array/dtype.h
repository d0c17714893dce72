#pragma once
/// Element types: all that PJRT has.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

/// An element type. Names follow NumPy and ml_dtypes: to_string(DType::BFloat16) is "bfloat16".
enum class DType : std::uint8_t {
  Bool,
  Int1,
  Int2,
  Int4,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt1,
  UInt2,
  UInt4,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float4E2M1FN,
  Float6E2M3FN,
  Float6E3M2FN,
  Float8E3M4,
  Float8E4M3,
  Float8E4M3FN,
  Float8E4M3B11FNUZ,
  Float8E4M3FNUZ,
  Float8E5M2,
  Float8E5M2FNUZ,
  Float8E8M0FNU,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Complex64,
  Complex128,
};

inline constexpr DType bool_ = DType::Bool;
inline constexpr DType int8 = DType::Int8;
inline constexpr DType int16 = DType::Int16;
inline constexpr DType int32 = DType::Int32;
inline constexpr DType int64 = DType::Int64;
inline constexpr DType uint8 = DType::UInt8;
inline constexpr DType uint16 = DType::UInt16;
inline constexpr DType uint32 = DType::UInt32;
inline constexpr DType uint64 = DType::UInt64;
inline constexpr DType float16 = DType::Float16;
inline constexpr DType bfloat16 = DType::BFloat16;
inline constexpr DType float32 = DType::Float32;
inline constexpr DType float64 = DType::Float64;
inline constexpr DType complex64 = DType::Complex64;
inline constexpr DType complex128 = DType::Complex128;

/// NumPy's name: "float32", "bfloat16", "float8_e4m3fn", "bool".
[[nodiscard]] std::string_view to_string(DType dtype);

/// The type of NumPy's name; ValueError listing the names where there is none such.
[[nodiscard]] DType dtype_from_string(std::string_view name);

/// StableHLO's element type: "f32", "bf16", "f8E4M3FN", "i1", "ui8", "complex<f32>".
[[nodiscard]] std::string_view mlir_name(DType dtype);

/// The PJRT_Buffer_Type of the PJRT C API, and back; ValueError for a type that is not in DType.
[[nodiscard]] int pjrt_element_type(DType dtype);
[[nodiscard]] DType dtype_from_pjrt(int element_type);

/// Bytes of one element on the host. Types below a byte (int4, ...) take one whole byte each, as in
/// ml_dtypes; signed ones fill it with their sign, the others with zeros.
[[nodiscard]] std::size_t byte_size(DType dtype);

/// Bits of one element on a device: 4 for int4, 8 for bool, 32 for float32.
[[nodiscard]] int bit_width(DType dtype);

[[nodiscard]] bool is_floating(DType dtype);  ///< float16 ... float64 and the narrower floats
[[nodiscard]] bool is_complex(DType dtype);
[[nodiscard]] bool is_integer(DType dtype);  ///< signed or unsigned, without bool
[[nodiscard]] bool is_signed_integer(DType dtype);
[[nodiscard]] bool is_unsigned_integer(DType dtype);

/// A 16-bit float's bits as a C++ value: convert to and from float, round to nearest even.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
  bool operator==(const BFloat16&) const = default;
};
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  explicit operator float() const;
  bool operator==(const Float16&) const = default;
};

/// The DType of a C++ type: dtype_of<float> is DType::Float32.
template <class T>
inline constexpr DType dtype_of = T::no_lockstep_dtype_for_this_type;

}  // namespace lockstep

#include "lockstep/array/dtype_of_impl.h"
