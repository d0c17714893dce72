#pragma once
// Written by make_expected_promotion.py (JAX 0.10.2).
#include <string>
#include <vector>

namespace lockstep {

struct ExpectedPromotions {
  std::vector<std::string> types;
  std::vector<std::vector<std::string>> results;  // of types[row] with types[column]
  std::vector<std::string> operands;
  std::vector<std::string> inexact;  // what sqrt gives for each operand
};

// With 64-bit defaults (jax_enable_x64).
inline const ExpectedPromotions expected_bits64 = {
    {"bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int64*", "float64*", "complex128*"},
    {
        {"bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int64*", "float64*", "complex128*"},
        {"uint8", "uint8", "uint16", "uint32", "uint64", "int16", "int16", "int32", "int64", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "uint8", "float64*", "complex128*"},
        {"uint16", "uint16", "uint16", "uint32", "uint64", "int32", "int32", "int32", "int64", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "uint16", "float64*", "complex128*"},
        {"uint32", "uint32", "uint32", "uint32", "uint64", "int64", "int64", "int64", "int64", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "uint32", "float64*", "complex128*"},
        {"uint64", "uint64", "uint64", "uint64", "uint64", "float64*", "float64*", "float64*", "float64*", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "uint64", "float64*", "complex128*"},
        {"int8", "int16", "int32", "int64", "float64*", "int8", "int16", "int32", "int64", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int8", "float64*", "complex128*"},
        {"int16", "int16", "int32", "int64", "float64*", "int16", "int16", "int32", "int64", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int16", "float64*", "complex128*"},
        {"int32", "int32", "int32", "int64", "float64*", "int32", "int32", "int32", "int64", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int32", "float64*", "complex128*"},
        {"int64", "int64", "int64", "int64", "float64*", "int64", "int64", "int64", "int64", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int64", "float64*", "complex128*"},
        {"int4", "", "", "", "", "", "", "", "", "int4", "", "", "", "", "", "", "", "", "", "int4", "", ""},
        {"uint4", "", "", "", "", "", "", "", "", "", "uint4", "", "", "", "", "", "", "", "", "uint4", "", ""},
        {"float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "", "", "float8_e4m3fn", "", "", "", "", "", "", "", "float8_e4m3fn", "float8_e4m3fn", ""},
        {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "", "", "", "float8_e5m2", "", "", "", "", "", "", "float8_e5m2", "float8_e5m2", ""},
        {"bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "", "", "", "", "bfloat16", "float32", "float32", "float64", "complex64", "complex128", "bfloat16", "bfloat16", "complex64"},
        {"float16", "float16", "float16", "float16", "float16", "float16", "float16", "float16", "float16", "", "", "", "", "float32", "float16", "float32", "float64", "complex64", "complex128", "float16", "float16", "complex64"},
        {"float32", "float32", "float32", "float32", "float32", "float32", "float32", "float32", "float32", "", "", "", "", "float32", "float32", "float32", "float64", "complex64", "complex128", "float32", "float32", "complex64"},
        {"float64", "float64", "float64", "float64", "float64", "float64", "float64", "float64", "float64", "", "", "", "", "float64", "float64", "float64", "float64", "complex128", "complex128", "float64", "float64", "complex128"},
        {"complex64", "complex64", "complex64", "complex64", "complex64", "complex64", "complex64", "complex64", "complex64", "", "", "", "", "complex64", "complex64", "complex64", "complex128", "complex64", "complex128", "complex64", "complex64", "complex64"},
        {"complex128", "complex128", "complex128", "complex128", "complex128", "complex128", "complex128", "complex128", "complex128", "", "", "", "", "complex128", "complex128", "complex128", "complex128", "complex128", "complex128", "complex128", "complex128", "complex128"},
        {"int64*", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int64*", "float64*", "complex128*"},
        {"float64*", "float64*", "float64*", "float64*", "float64*", "float64*", "float64*", "float64*", "float64*", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "float64*", "float64*", "complex128*"},
        {"complex128*", "complex128*", "complex128*", "complex128*", "complex128*", "complex128*", "complex128*", "complex128*", "complex128*", "", "", "", "", "complex64", "complex64", "complex64", "complex128", "complex64", "complex128", "complex128*", "complex128*", "complex128*"},
    },
    {"bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int64*", "float64*", "complex128*"},
    {"float32", "float32", "float32", "float32", "float64", "float32", "float32", "float32", "float64", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "float64*", "float64*", "complex128*"},
};

// With 32-bit defaults, where JAX has no 64-bit types.
inline const ExpectedPromotions expected_bits32 = {
    {"bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "int32*", "float32*", "complex64*"},
    {
        {"bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "int32*", "float32*", "complex64*"},
        {"uint8", "uint8", "uint16", "uint32", "int16", "int16", "int32", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "uint8", "float32*", "complex64*"},
        {"uint16", "uint16", "uint16", "uint32", "int32", "int32", "int32", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "uint16", "float32*", "complex64*"},
        {"uint32", "uint32", "uint32", "uint32", "int32", "int32", "int32", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "uint32", "float32*", "complex64*"},
        {"int8", "int16", "int32", "int32", "int8", "int16", "int32", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "int8", "float32*", "complex64*"},
        {"int16", "int16", "int32", "int32", "int16", "int16", "int32", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "int16", "float32*", "complex64*"},
        {"int32", "int32", "int32", "int32", "int32", "int32", "int32", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "int32", "float32*", "complex64*"},
        {"int4", "", "", "", "", "", "", "int4", "", "", "", "", "", "", "", "int4", "", ""},
        {"uint4", "", "", "", "", "", "", "", "uint4", "", "", "", "", "", "", "uint4", "", ""},
        {"float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", "", "", "float8_e4m3fn", "", "", "", "", "", "float8_e4m3fn", "float8_e4m3fn", ""},
        {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "", "", "", "float8_e5m2", "", "", "", "", "float8_e5m2", "float8_e5m2", ""},
        {"bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "", "", "", "", "bfloat16", "float32", "float32", "complex64", "bfloat16", "bfloat16", "complex64"},
        {"float16", "float16", "float16", "float16", "float16", "float16", "float16", "", "", "", "", "float32", "float16", "float32", "complex64", "float16", "float16", "complex64"},
        {"float32", "float32", "float32", "float32", "float32", "float32", "float32", "", "", "", "", "float32", "float32", "float32", "complex64", "float32", "float32", "complex64"},
        {"complex64", "complex64", "complex64", "complex64", "complex64", "complex64", "complex64", "", "", "", "", "complex64", "complex64", "complex64", "complex64", "complex64", "complex64", "complex64"},
        {"int32*", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "int32*", "float32*", "complex64*"},
        {"float32*", "float32*", "float32*", "float32*", "float32*", "float32*", "float32*", "", "", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "complex64", "float32*", "float32*", "complex64*"},
        {"complex64*", "complex64*", "complex64*", "complex64*", "complex64*", "complex64*", "complex64*", "", "", "", "", "complex64", "complex64", "complex64", "complex64", "complex64*", "complex64*", "complex64*"},
    },
    {"bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "bfloat16", "float16", "float32", "complex64", "int32*", "float32*", "complex64*"},
    {"float32", "float32", "float32", "float32", "float32", "float32", "float32", "bfloat16", "float16", "float32", "complex64", "float32*", "float32*", "complex64*"},
};

}  // namespace lockstep
