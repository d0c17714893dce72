#pragma once
/// Operators on arrays: `2.0 * x + y`. Literals are weakly typed: they take x's type. `==` and its
/// sisters compare element by element and give an array of bool.
#include "lockstep/trace/elementwise.h"

namespace lockstep {

[[nodiscard]] inline Array operator+(const Array& a, const Array& b) {
  return add(a, b);
}
[[nodiscard]] inline Array operator-(const Array& a, const Array& b) {
  return subtract(a, b);
}
[[nodiscard]] inline Array operator*(const Array& a, const Array& b) {
  return multiply(a, b);
}
[[nodiscard]] inline Array operator/(const Array& a, const Array& b) {
  return divide(a, b);
}
/// Python's %: the sign of b.
[[nodiscard]] inline Array operator%(const Array& a, const Array& b) {
  return remainder(a, b);
}
[[nodiscard]] inline Array operator-(const Array& x) {
  return negative(x);
}
[[nodiscard]] inline Array operator~(const Array& x) {
  return bitwise_not(x);
}
[[nodiscard]] inline Array operator&(const Array& a, const Array& b) {
  return bitwise_and(a, b);
}
[[nodiscard]] inline Array operator|(const Array& a, const Array& b) {
  return bitwise_or(a, b);
}
[[nodiscard]] inline Array operator^(const Array& a, const Array& b) {
  return bitwise_xor(a, b);
}
[[nodiscard]] inline Array operator<<(const Array& a, const Array& b) {
  return left_shift(a, b);
}
[[nodiscard]] inline Array operator>>(const Array& a, const Array& b) {
  return right_shift(a, b);
}
[[nodiscard]] inline Array operator==(const Array& a, const Array& b) {
  return equal(a, b);
}
[[nodiscard]] inline Array operator!=(const Array& a, const Array& b) {
  return not_equal(a, b);
}
[[nodiscard]] inline Array operator<(const Array& a, const Array& b) {
  return less(a, b);
}
[[nodiscard]] inline Array operator<=(const Array& a, const Array& b) {
  return less_equal(a, b);
}
[[nodiscard]] inline Array operator>(const Array& a, const Array& b) {
  return greater(a, b);
}
[[nodiscard]] inline Array operator>=(const Array& a, const Array& b) {
  return greater_equal(a, b);
}

inline Array& operator+=(Array& a, const Array& b) {
  return a = add(a, b);
}
inline Array& operator-=(Array& a, const Array& b) {
  return a = subtract(a, b);
}
inline Array& operator*=(Array& a, const Array& b) {
  return a = multiply(a, b);
}
inline Array& operator/=(Array& a, const Array& b) {
  return a = divide(a, b);
}

}  // namespace lockstep
