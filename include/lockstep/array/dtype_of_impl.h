#pragma once
// The specialisations of dtype_of.
#include <complex>

namespace lockstep {

template <>
inline constexpr DType dtype_of<bool> = DType::Bool;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::Int8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::Int16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::Int32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::Int64;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::UInt8;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::UInt16;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::UInt32;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::UInt64;
template <>
inline constexpr DType dtype_of<Float16> = DType::Float16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::BFloat16;
template <>
inline constexpr DType dtype_of<float> = DType::Float32;
template <>
inline constexpr DType dtype_of<double> = DType::Float64;
template <>
inline constexpr DType dtype_of<std::complex<float>> = DType::Complex64;
template <>
inline constexpr DType dtype_of<std::complex<double>> = DType::Complex128;

}  // namespace lockstep
