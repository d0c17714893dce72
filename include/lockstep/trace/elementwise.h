#pragma once
/// Elementwise ops. Operands are promoted to one type (promotion.h) and broadcast to one shape
/// (NumPy's rule); errors name the op and both shapes. "Inexact" ops make a floating type of
/// integers. Unless a line says otherwise an op takes numbers of any type and has the usual
/// derivative.
#include <concepts>
#include <cstdint>
#include <optional>

#include "lockstep/array/array.h"

namespace lockstep {

// ---- one operand ------------------------------------------------------------------------------

/// -x. ValueError for bool.
[[nodiscard]] Array negative(const Array& x);
/// |x|. Derivative 1 at 0 and at -0. Complex gives the real modulus and has no derivative yet.
[[nodiscard]] Array abs(const Array& x);
/// -1, 0 or 1 (NaN stays). Derivative 0.
[[nodiscard]] Array sign(const Array& x);
/// e^x. Inexact.
[[nodiscard]] Array exp(const Array& x);
/// e^x - 1, exact near 0. Inexact.
[[nodiscard]] Array expm1(const Array& x);
/// Natural logarithm. Inexact. NaN below 0; -inf with derivative inf at 0.
[[nodiscard]] Array log(const Array& x);
/// log(1 + x), exact near 0. Inexact.
[[nodiscard]] Array log1p(const Array& x);
/// Square root. Inexact. Derivative inf at 0; guard with where(x > 0, x, 1) inside as well as
/// outside.
[[nodiscard]] Array sqrt(const Array& x);
/// 1 / sqrt(x). Inexact.
[[nodiscard]] Array rsqrt(const Array& x);
/// Cube root. Floating. Derivative inf at 0.
[[nodiscard]] Array cbrt(const Array& x);
/// x * x in x's type.
[[nodiscard]] Array square(const Array& x);
/// 1 / x. Inexact.
[[nodiscard]] Array reciprocal(const Array& x);
/// Hyperbolic tangent. Inexact.
[[nodiscard]] Array tanh(const Array& x);
/// 1 / (1 + e^-x). Inexact.
[[nodiscard]] Array logistic(const Array& x);
/// The same as logistic.
[[nodiscard]] Array sigmoid(const Array& x);
/// Circular and hyperbolic functions and their inverses. Inexact.
[[nodiscard]] Array sin(const Array& x);
[[nodiscard]] Array cos(const Array& x);
[[nodiscard]] Array tan(const Array& x);
[[nodiscard]] Array asin(const Array& x);  ///< Derivative inf at -1 and 1.
[[nodiscard]] Array acos(const Array& x);  ///< Derivative -inf at -1 and 1.
[[nodiscard]] Array atan(const Array& x);
[[nodiscard]] Array sinh(const Array& x);
[[nodiscard]] Array cosh(const Array& x);
[[nodiscard]] Array asinh(const Array& x);
[[nodiscard]] Array acosh(const Array& x);  ///< Derivative inf at 1.
[[nodiscard]] Array atanh(const Array& x);  ///< Derivative inf at -1 and 1.
/// NumPy's names for the inverses.
[[nodiscard]] inline Array arcsin(const Array& x) {
  return asin(x);
}
[[nodiscard]] inline Array arccos(const Array& x) {
  return acos(x);
}
[[nodiscard]] inline Array arctan(const Array& x) {
  return atan(x);
}
[[nodiscard]] inline Array arcsinh(const Array& x) {
  return asinh(x);
}
[[nodiscard]] inline Array arccosh(const Array& x) {
  return acosh(x);
}
[[nodiscard]] inline Array arctanh(const Array& x) {
  return atanh(x);
}
/// The error function. Inexact.
[[nodiscard]] Array erf(const Array& x);
/// Its inverse on (-1, 1); -inf and inf at the ends. Inexact.
[[nodiscard]] Array erf_inv(const Array& x);
/// Rounding down, up, to the nearest (halves to even), towards zero; integers stay. Derivative 0.
[[nodiscard]] Array floor(const Array& x);
[[nodiscard]] Array ceil(const Array& x);
[[nodiscard]] Array round(const Array& x);
[[nodiscard]] Array trunc(const Array& x);
/// bool; true everywhere (isfinite) or nowhere for integers. No derivative.
[[nodiscard]] Array isfinite(const Array& x);
[[nodiscard]] Array isnan(const Array& x);
[[nodiscard]] Array isinf(const Array& x);
/// bool: x == 0, whatever x's type. No derivative.
[[nodiscard]] Array logical_not(const Array& x);
/// Bits inverted; bool or integers. No derivative.
[[nodiscard]] Array bitwise_not(const Array& x);
/// Number of bits that are set; integers. No derivative.
[[nodiscard]] Array population_count(const Array& x);

// ---- two operands -----------------------------------------------------------------------------

/// a + b; bools are or-ed.
[[nodiscard]] Array add(const Array& a, const Array& b);
/// a - b. ValueError for bool.
[[nodiscard]] Array subtract(const Array& a, const Array& b);
/// a * b; bools are and-ed.
[[nodiscard]] Array multiply(const Array& a, const Array& b);
/// a / b. Inexact.
[[nodiscard]] Array divide(const Array& a, const Array& b);
/// a / b rounded down, in the operands' type. Derivative 0.
[[nodiscard]] Array floor_divide(const Array& a, const Array& b);
/// a^b. 0^0 is 1. For floating types the derivative by a is NaN at (0, 0), that by b is 0 at a = 0
/// and NaN for negative a.
[[nodiscard]] Array power(const Array& a, const Array& b);
/// x^exponent by repeated multiplication: finite derivatives of every order at 0. Negative
/// exponents need a floating x.
[[nodiscard]] Array integer_pow(const Array& x, std::int64_t exponent);
[[nodiscard]] Array power(const Array& a, std::integral auto exponent) {
  return integer_pow(a, static_cast<std::int64_t>(exponent));
}
/// The larger (smaller) of the two; NaN where either is. At a tie each side gets half the gradient.
[[nodiscard]] Array maximum(const Array& a, const Array& b);
[[nodiscard]] Array minimum(const Array& a, const Array& b);
/// What is left of a / b, with the sign of b (Python's %). Derivative by b: -floor(a / b).
[[nodiscard]] Array remainder(const Array& a, const Array& b);
/// The same with the sign of a (C's fmod, lax.rem).
[[nodiscard]] Array rem(const Array& a, const Array& b);
/// The angle of the point (b, a), in (-pi, pi]. Inexact. Derivative NaN at (0, 0).
[[nodiscard]] Array arctan2(const Array& a, const Array& b);
[[nodiscard]] inline Array atan2(const Array& a, const Array& b) {
  return arctan2(a, b);
}
/// log(e^a + e^b) without overflow. Inexact.
[[nodiscard]] Array logaddexp(const Array& a, const Array& b);

/// Truth of (a != 0) op (b != 0): bool, of any types. No derivative.
[[nodiscard]] Array logical_and(const Array& a, const Array& b);
[[nodiscard]] Array logical_or(const Array& a, const Array& b);
[[nodiscard]] Array logical_xor(const Array& a, const Array& b);
/// Bit by bit; bool or integers. No derivative.
[[nodiscard]] Array bitwise_and(const Array& a, const Array& b);
[[nodiscard]] Array bitwise_or(const Array& a, const Array& b);
[[nodiscard]] Array bitwise_xor(const Array& a, const Array& b);
/// Shifts of integers. By the width or more: 0 (right_shift of a negative number: -1). right_shift
/// keeps the sign of signed types, right_shift_logical shifts zeros in. No derivative.
[[nodiscard]] Array left_shift(const Array& a, const Array& b);
[[nodiscard]] Array right_shift(const Array& a, const Array& b);
[[nodiscard]] Array right_shift_logical(const Array& a, const Array& b);

/// bool. Comparisons with NaN are false (not_equal true). No derivative.
[[nodiscard]] Array equal(const Array& a, const Array& b);
[[nodiscard]] Array not_equal(const Array& a, const Array& b);
[[nodiscard]] Array less(const Array& a, const Array& b);
[[nodiscard]] Array less_equal(const Array& a, const Array& b);
[[nodiscard]] Array greater(const Array& a, const Array& b);
[[nodiscard]] Array greater_equal(const Array& a, const Array& b);

// ---- choosing and casting -----------------------------------------------------------------------

/// `x` where `condition` is not 0, else `y`; all three broadcast. The gradient goes to the chosen
/// side, a zero to the other: a NaN or inf derivative of the side that was not chosen still makes
/// NaN (0 * inf), so guard its argument too: where(x < 1, x, sqrt(where(x < 1, 1, x))).
[[nodiscard]] Array where(const Array& condition, const Array& x, const Array& y);
/// lax.select: the same, bool predicate of x's shape or a scalar, x and y of one shape and type.
[[nodiscard]] Array select(const Array& predicate, const Array& x, const Array& y);
/// `x` held in [min, max]: minimum(maximum(x, min), max), so half the gradient at a bound and `max`
/// where min > max. Either bound may be left out.
struct ClipOptions {
  std::optional<Array> min = {};
  std::optional<Array> max = {};
};
[[nodiscard]] Array clip(const Array& x, const ClipOptions& options);
[[nodiscard]] Array clip(const Array& x, const Array& min, const Array& max);
/// x converted: float to integer truncates, anything to bool is x != 0. Floating to floating is
/// differentiable, everything else has a zero derivative.
[[nodiscard]] Array astype(const Array& x, DType dtype);
/// The same bits read as another type of the same width. Derivative 0.
[[nodiscard]] Array bitcast_convert_type(const Array& x, DType dtype);
/// x, held constant in differentiation.
[[nodiscard]] Array stop_gradient(const Array& x);
/// x, as a value the compiler may not move, merge or drop computations across.
[[nodiscard]] Array optimization_barrier(const Array& x);

}  // namespace lockstep
