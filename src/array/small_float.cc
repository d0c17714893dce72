#include "array/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace lockstep {
namespace array_internal {
namespace {

std::uint32_t all_ones(int bits) {
  return (std::uint32_t{1} << bits) - 1;
}

std::uint32_t nan_bits(const SmallFloat& format, bool negative) {
  const int width = format.exponent_bits + format.mantissa_bits;
  const std::uint32_t sign = std::uint32_t{negative} << width;
  switch (format.specials) {
    case Specials::Ieee:  // quiet: the top mantissa bit
      return sign | (all_ones(format.exponent_bits) << format.mantissa_bits) |
             (std::uint32_t{1} << (format.mantissa_bits - 1));
    case Specials::Fn: return sign | all_ones(width);
    case Specials::Fnuz: return std::uint32_t{1} << width;
    case Specials::Finite: return std::uint32_t{1} << width;  // negative zero
    case Specials::Exponents: return all_ones(width);
  }
  return 0;
}

std::uint32_t encode_exponent(const SmallFloat& format, double value) {
  // Zero, negative and not finite values have no power of two.
  if (!(value > 0) || std::isinf(value)) return nan_bits(format, false);
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  std::int64_t biased = std::int64_t{exponent} - 1 + format.bias;
  if (fraction >= 0.75) ++biased;  // halfway (1.5) goes up, as in ml_dtypes
  if (biased < 0) return 0;
  if (biased >= all_ones(format.exponent_bits)) return nan_bits(format, false);
  return static_cast<std::uint32_t>(biased);
}

}  // namespace

SmallFloat small_float(DType dtype) {
  switch (dtype) {
    case DType::Float4E2M1FN: return {2, 1, 1, Specials::Finite};
    case DType::Float6E2M3FN: return {2, 3, 1, Specials::Finite};
    case DType::Float6E3M2FN: return {3, 2, 3, Specials::Finite};
    case DType::Float8E3M4: return {3, 4, 3, Specials::Ieee};
    case DType::Float8E4M3: return {4, 3, 7, Specials::Ieee};
    case DType::Float8E4M3FN: return {4, 3, 7, Specials::Fn};
    case DType::Float8E4M3B11FNUZ: return {4, 3, 11, Specials::Fnuz};
    case DType::Float8E4M3FNUZ: return {4, 3, 8, Specials::Fnuz};
    case DType::Float8E5M2: return {5, 2, 15, Specials::Ieee};
    case DType::Float8E5M2FNUZ: return {5, 2, 16, Specials::Fnuz};
    case DType::Float8E8M0FNU: return {8, 0, 127, Specials::Exponents};
    case DType::BFloat16: return {8, 7, 127, Specials::Ieee};
    default: return {5, 10, 15, Specials::Ieee};
  }
}

double decode(const SmallFloat& format, std::uint32_t bits) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const int width = format.exponent_bits + format.mantissa_bits;
  if (format.specials == Specials::Exponents) {
    if (bits == all_ones(width)) return nan;
    return std::ldexp(1.0, static_cast<int>(bits) - format.bias);
  }
  const bool negative = (bits >> width) != 0;
  const std::uint32_t magnitude = bits & all_ones(width);
  const std::uint32_t exponent = magnitude >> format.mantissa_bits;
  const std::uint32_t mantissa = magnitude & all_ones(format.mantissa_bits);
  if (format.specials == Specials::Fnuz && negative && magnitude == 0) return nan;
  if (format.specials == Specials::Fn && magnitude == all_ones(width)) return nan;
  if (format.specials == Specials::Ieee && exponent == all_ones(format.exponent_bits)) {
    const double special = mantissa == 0 ? std::numeric_limits<double>::infinity() : nan;
    return std::copysign(special, negative ? -1.0 : 1.0);
  }
  const double significand =
      exponent == 0 ? mantissa : mantissa + (std::uint32_t{1} << format.mantissa_bits);
  const int scale = std::max(static_cast<int>(exponent), 1) - format.bias - format.mantissa_bits;
  return std::copysign(std::ldexp(significand, scale), negative ? -1.0 : 1.0);
}

std::uint32_t encode(const SmallFloat& format, double value) {
  if (format.specials == Specials::Exponents) return encode_exponent(format, value);
  const bool negative = std::signbit(value);
  if (std::isnan(value)) return nan_bits(format, negative);
  const int width = format.exponent_bits + format.mantissa_bits;
  const std::uint32_t sign = std::uint32_t{negative} << width;

  // The largest finite pattern; one more is infinity, NaN or nothing.
  std::uint32_t largest = all_ones(width);
  if (format.specials == Specials::Ieee) {
    largest = (all_ones(format.exponent_bits) << format.mantissa_bits) - 1;
  } else if (format.specials == Specials::Fn) {
    largest -= 1;
  }

  std::uint32_t magnitude = 0;
  if (std::isinf(value)) {
    magnitude = largest + 1;
  } else {
    int exponent = 0;
    const double absolute = std::fabs(value);
    (void)std::frexp(absolute, &exponent);
    exponent -= 1;  // absolute is in [2^exponent, 2^(exponent + 1))
    const int lowest = 1 - format.bias;
    const int clamped = absolute == 0 ? lowest : std::max(exponent, lowest);
    // In units of the last place, rounded half to even by the processor's own rule. Patterns are
    // ordered as their values are, so a carry into the exponent is right as it is.
    const double units = std::nearbyint(std::ldexp(absolute, format.mantissa_bits - clamped));
    const double pattern =
        units + std::ldexp(static_cast<double>(clamped - lowest), format.mantissa_bits);
    magnitude = pattern > largest ? largest + 1 : static_cast<std::uint32_t>(pattern);
  }
  if (magnitude > largest) {
    if (format.specials == Specials::Finite) return sign | largest;
    if (format.specials == Specials::Ieee) return sign | magnitude;
    return nan_bits(format, negative);
  }
  if (format.specials == Specials::Fnuz && magnitude == 0) return 0;
  return sign | magnitude;
}

}  // namespace array_internal

BFloat16::BFloat16(float value) {
  const auto pattern = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    bits = static_cast<std::uint16_t>((pattern >> 31 << 15) | 0x7FC0U);
    return;
  }
  // Half of the last place, less one unless the last place is odd: ties go to even.
  const std::uint32_t rounding = 0x7FFFU + ((pattern >> 16) & 1U);
  bits = static_cast<std::uint16_t>((pattern + rounding) >> 16);
}

BFloat16::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

Float16::Float16(float value)
    : bits(static_cast<std::uint16_t>(array_internal::encode(
          array_internal::small_float(DType::Float16), static_cast<double>(value)))) {}

Float16::operator float() const {
  return static_cast<float>(
      array_internal::decode(array_internal::small_float(DType::Float16), bits));
}

}  // namespace lockstep
