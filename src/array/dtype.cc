#include "lockstep/array/dtype.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "lockstep/base/error.h"
#include "xla/pjrt/c/pjrt_c_api.h"

namespace lockstep {
namespace {

enum class Category : std::uint8_t { Bool, Signed, Unsigned, Floating, Complex };

struct Info {
  DType dtype;
  std::string_view name;
  std::string_view mlir;
  Category category;
  std::uint8_t bits;
  PJRT_Buffer_Type pjrt;
};

// In the order of the enumeration.
constexpr std::array kInfos = {
    Info{DType::Bool, "bool", "i1", Category::Bool, 8, PJRT_Buffer_Type_PRED},
    Info{DType::Int1, "int1", "si1", Category::Signed, 1, PJRT_Buffer_Type_S1},
    Info{DType::Int2, "int2", "i2", Category::Signed, 2, PJRT_Buffer_Type_S2},
    Info{DType::Int4, "int4", "i4", Category::Signed, 4, PJRT_Buffer_Type_S4},
    Info{DType::Int8, "int8", "i8", Category::Signed, 8, PJRT_Buffer_Type_S8},
    Info{DType::Int16, "int16", "i16", Category::Signed, 16, PJRT_Buffer_Type_S16},
    Info{DType::Int32, "int32", "i32", Category::Signed, 32, PJRT_Buffer_Type_S32},
    Info{DType::Int64, "int64", "i64", Category::Signed, 64, PJRT_Buffer_Type_S64},
    Info{DType::UInt1, "uint1", "ui1", Category::Unsigned, 1, PJRT_Buffer_Type_U1},
    Info{DType::UInt2, "uint2", "ui2", Category::Unsigned, 2, PJRT_Buffer_Type_U2},
    Info{DType::UInt4, "uint4", "ui4", Category::Unsigned, 4, PJRT_Buffer_Type_U4},
    Info{DType::UInt8, "uint8", "ui8", Category::Unsigned, 8, PJRT_Buffer_Type_U8},
    Info{DType::UInt16, "uint16", "ui16", Category::Unsigned, 16, PJRT_Buffer_Type_U16},
    Info{DType::UInt32, "uint32", "ui32", Category::Unsigned, 32, PJRT_Buffer_Type_U32},
    Info{DType::UInt64, "uint64", "ui64", Category::Unsigned, 64, PJRT_Buffer_Type_U64},
    Info{DType::Float4E2M1FN, "float4_e2m1fn", "f4E2M1FN", Category::Floating, 4,
         PJRT_Buffer_Type_F4E2M1FN},
    Info{DType::Float6E2M3FN, "float6_e2m3fn", "f6E2M3FN", Category::Floating, 6,
         PJRT_Buffer_Type_F6E2M3FN},
    Info{DType::Float6E3M2FN, "float6_e3m2fn", "f6E3M2FN", Category::Floating, 6,
         PJRT_Buffer_Type_F6E3M2FN},
    Info{DType::Float8E3M4, "float8_e3m4", "f8E3M4", Category::Floating, 8,
         PJRT_Buffer_Type_F8E3M4},
    Info{DType::Float8E4M3, "float8_e4m3", "f8E4M3", Category::Floating, 8,
         PJRT_Buffer_Type_F8E4M3},
    Info{DType::Float8E4M3FN, "float8_e4m3fn", "f8E4M3FN", Category::Floating, 8,
         PJRT_Buffer_Type_F8E4M3FN},
    Info{DType::Float8E4M3B11FNUZ, "float8_e4m3b11fnuz", "f8E4M3B11FNUZ", Category::Floating, 8,
         PJRT_Buffer_Type_F8E4M3B11FNUZ},
    Info{DType::Float8E4M3FNUZ, "float8_e4m3fnuz", "f8E4M3FNUZ", Category::Floating, 8,
         PJRT_Buffer_Type_F8E4M3FNUZ},
    Info{DType::Float8E5M2, "float8_e5m2", "f8E5M2", Category::Floating, 8,
         PJRT_Buffer_Type_F8E5M2},
    Info{DType::Float8E5M2FNUZ, "float8_e5m2fnuz", "f8E5M2FNUZ", Category::Floating, 8,
         PJRT_Buffer_Type_F8E5M2FNUZ},
    Info{DType::Float8E8M0FNU, "float8_e8m0fnu", "f8E8M0FNU", Category::Floating, 8,
         PJRT_Buffer_Type_F8E8M0FNU},
    Info{DType::Float16, "float16", "f16", Category::Floating, 16, PJRT_Buffer_Type_F16},
    Info{DType::BFloat16, "bfloat16", "bf16", Category::Floating, 16, PJRT_Buffer_Type_BF16},
    Info{DType::Float32, "float32", "f32", Category::Floating, 32, PJRT_Buffer_Type_F32},
    Info{DType::Float64, "float64", "f64", Category::Floating, 64, PJRT_Buffer_Type_F64},
    Info{DType::Complex64, "complex64", "complex<f32>", Category::Complex, 64,
         PJRT_Buffer_Type_C64},
    Info{DType::Complex128, "complex128", "complex<f64>", Category::Complex, 128,
         PJRT_Buffer_Type_C128},
};

constexpr bool in_enumeration_order() {
  for (std::size_t i = 0; i < kInfos.size(); ++i) {
    if (static_cast<std::size_t>(kInfos[i].dtype) != i) return false;
  }
  return kInfos.size() == static_cast<std::size_t>(DType::Complex128) + 1;
}
static_assert(in_enumeration_order());

const Info& info(DType dtype) {
  return kInfos[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view to_string(DType dtype) {
  return info(dtype).name;
}

DType dtype_from_string(std::string_view name) {
  std::string names;
  for (const Info& entry : kInfos) {
    if (entry.name == name) return entry.dtype;
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  throw_value_error("dtype",
                    fmt::format("there is no element type '{}'; the names are: {}", name, names));
}

std::string_view mlir_name(DType dtype) {
  return info(dtype).mlir;
}

int pjrt_element_type(DType dtype) {
  return info(dtype).pjrt;
}

DType dtype_from_pjrt(int element_type) {
  for (const Info& entry : kInfos) {
    if (entry.pjrt == element_type) return entry.dtype;
  }
  throw_value_error(
      "dtype", fmt::format("PJRT_Buffer_Type {} is no element type of an array", element_type));
}

std::size_t byte_size(DType dtype) {
  return (static_cast<std::size_t>(info(dtype).bits) + 7) / 8;
}

int bit_width(DType dtype) {
  return info(dtype).bits;
}

bool is_floating(DType dtype) {
  return info(dtype).category == Category::Floating;
}
bool is_complex(DType dtype) {
  return info(dtype).category == Category::Complex;
}
bool is_signed_integer(DType dtype) {
  return info(dtype).category == Category::Signed;
}
bool is_unsigned_integer(DType dtype) {
  return info(dtype).category == Category::Unsigned;
}
bool is_integer(DType dtype) {
  return is_signed_integer(dtype) || is_unsigned_integer(dtype);
}

}  // namespace lockstep
