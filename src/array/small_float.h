#pragma once
// Floats narrower than 32 bits: their formats, and conversion to and from double.
#include <cstdint>

#include "lockstep/array/dtype.h"

namespace lockstep::array_internal {

// What the top of a format's range means.
enum class Specials : std::uint8_t {
  Ieee,       // infinities and NaNs as in IEEE 754
  Fn,         // no infinities; all ones is NaN
  Fnuz,       // no infinities, no negative zero; its pattern is NaN
  Finite,     // neither infinities nor NaN
  Exponents,  // powers of two only: no sign, no zero; all ones is NaN
};

struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
};

// The format of a floating type of at most 16 bits.
[[nodiscard]] SmallFloat small_float(DType dtype);

// The value of a bit pattern; exact.
[[nodiscard]] double decode(const SmallFloat& format, std::uint32_t bits);

// The nearest pattern, ties to even. What does not fit becomes infinity where there is one, else
// NaN where there is one, else the largest value; ml_dtypes' rules.
[[nodiscard]] std::uint32_t encode(const SmallFloat& format, double value);

}  // namespace lockstep::array_internal
