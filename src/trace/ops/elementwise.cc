#include "lockstep/trace/elementwise.h"

#include <fmt/format.h>

#include <array>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/operators.h"
#include "trace/literals.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

Array unary(std::string_view primitive, const Array& x) {
  return apply_one(primitives::unary(primitive), std::vector<Array>{x});
}

// Operands of one type and shape: recorded as they are, else promoted and broadcast.
std::vector<Array> matched(std::string_view where, const Array& a, const Array& b) {
  check_operand(where, a);
  check_operand(where, b);
  if (a.dtype() == b.dtype() && a.shape() == b.shape() && !literal_of(a) && !literal_of(b)) {
    return {a, b};
  }
  return promote_and_broadcast(where, std::vector<Array>{a, b});
}

// Errors about the type name the op that was called, not the primitive.
Array binary(std::string_view primitive, std::string_view where, const Array& a, const Array& b,
             Accepts accepted = Accepts::Anything, std::string_view hint = {}) {
  const std::vector<Array> pair = matched(where, a, b);
  check_accepts(where, accepted, pair[0].abstract_value(), hint);
  return apply_one(primitives::binary(primitive), pair);
}

// The same for ops that make a floating type of integers.
Array inexact_binary(std::string_view primitive, std::string_view where, const Array& a,
                     const Array& b) {
  check_operand(where, a);
  check_operand(where, b);
  const PromotedType type = to_inexact(result_type(std::vector<Array>{a, b}));
  const Shape shape = broadcast_shapes(where, std::vector<Shape>{a.shape(), b.shape()});
  return apply_one(primitives::binary(primitive),
                   std::vector<Array>{convert_and_broadcast(a, type, shape),
                                      convert_and_broadcast(b, type, shape)});
}

Array compared(std::string_view direction, std::string_view where, const Array& a, const Array& b) {
  return apply_one(primitives::compare(direction), matched(where, a, b));
}

bool is_bool(const Array& x) {
  return x.dtype() == DType::Bool;
}
bool is_exact(const Array& x) {
  return is_bool(x) || is_integer(x.dtype());
}

Array truth(std::string_view where, const Array& x) {
  const Array value = operand(where, x);
  return is_bool(value) ? value : not_equal(value, zeros_like(value));
}

// Integers are left as they are, floats go through the primitive.
Array rounded(std::string_view primitive, const Array& x) {
  const Array value = operand(primitive, x);
  return is_exact(value) ? value : unary(primitive, value);
}

}  // namespace

Array negative(const Array& x) {
  const Array value = operand("negative", x);
  check_accepts("negative", Accepts::Number, value.abstract_value());
  return unary("neg", value);
}
Array abs(const Array& x) {
  const Array value = operand("abs", x);
  return is_bool(value) || is_unsigned_integer(value.dtype()) ? value : unary("abs", value);
}
Array sign(const Array& x) {
  const Array value = operand("sign", x);
  if (!is_unsigned_integer(value.dtype())) return unary("sign", value);
  return astype(not_equal(value, zeros_like(value)), value.dtype());
}
Array exp(const Array& x) {
  return unary("exp", inexact_operand("exp", x));
}
Array expm1(const Array& x) {
  return unary("expm1", inexact_operand("expm1", x));
}
Array log(const Array& x) {
  return unary("log", inexact_operand("log", x));
}
Array log1p(const Array& x) {
  return unary("log1p", inexact_operand("log1p", x));
}
Array sqrt(const Array& x) {
  return unary("sqrt", inexact_operand("sqrt", x));
}
Array rsqrt(const Array& x) {
  return unary("rsqrt", inexact_operand("rsqrt", x));
}
Array cbrt(const Array& x) {
  return unary("cbrt", inexact_operand("cbrt", x));
}
Array square(const Array& x) {
  const Array value = operand("square", x);
  return is_bool(value) ? value : integer_pow(value, 2);
}
Array reciprocal(const Array& x) {
  const Array value = inexact_operand("reciprocal", x);
  return divide(1.0, value);
}
Array tanh(const Array& x) {
  return unary("tanh", inexact_operand("tanh", x));
}
Array logistic(const Array& x) {
  return unary("logistic", inexact_operand("logistic", x));
}
Array sigmoid(const Array& x) {
  return logistic(x);
}
Array sin(const Array& x) {
  return unary("sin", inexact_operand("sin", x));
}
Array cos(const Array& x) {
  return unary("cos", inexact_operand("cos", x));
}
Array tan(const Array& x) {
  return unary("tan", inexact_operand("tan", x));
}
Array asin(const Array& x) {
  return unary("asin", inexact_operand("asin", x));
}
Array acos(const Array& x) {
  return unary("acos", inexact_operand("acos", x));
}
Array atan(const Array& x) {
  return unary("atan", inexact_operand("atan", x));
}
Array sinh(const Array& x) {
  return unary("sinh", inexact_operand("sinh", x));
}
Array cosh(const Array& x) {
  return unary("cosh", inexact_operand("cosh", x));
}
Array asinh(const Array& x) {
  return unary("asinh", inexact_operand("asinh", x));
}
Array acosh(const Array& x) {
  return unary("acosh", inexact_operand("acosh", x));
}
Array atanh(const Array& x) {
  return unary("atanh", inexact_operand("atanh", x));
}
Array erf(const Array& x) {
  return unary("erf", inexact_operand("erf", x));
}
Array erf_inv(const Array& x) {
  return unary("erf_inv", inexact_operand("erf_inv", x));
}
Array floor(const Array& x) {
  return rounded("floor", x);
}
Array ceil(const Array& x) {
  return rounded("ceil", x);
}
Array round(const Array& x) {
  return rounded("round", x);
}
Array trunc(const Array& x) {
  const Array value = operand("trunc", x);
  if (is_exact(value)) return value;
  return select(less(value, zeros_like(value)), ceil(value), floor(value));
}
Array isfinite(const Array& x) {
  const Array value = operand("isfinite", x);
  if (is_exact(value)) return full(value.shape(), true, DType::Bool);
  return unary("is_finite", value);
}
Array isnan(const Array& x) {
  const Array value = operand("isnan", x);
  return is_exact(value) ? zeros(value.shape(), DType::Bool) : not_equal(value, value);
}
Array isinf(const Array& x) {
  const Array value = operand("isinf", x);
  if (is_exact(value)) return zeros(value.shape(), DType::Bool);
  return logical_not(logical_or(isfinite(value), isnan(value)));
}
Array logical_not(const Array& x) {
  return unary("not", truth("logical_not", x));
}
Array bitwise_not(const Array& x) {
  const Array value = operand("bitwise_not", x);
  check_accepts("bitwise_not", Accepts::IntegerOrBool, value.abstract_value());
  return unary("not", value);
}
Array population_count(const Array& x) {
  return unary("population_count", operand("population_count", x));
}

Array add(const Array& a, const Array& b) {
  return binary("add", "add", a, b);
}
Array subtract(const Array& a, const Array& b) {
  return binary("sub", "subtract", a, b, Accepts::Number,
                is_bool(a) ? "use logical_xor for the difference of bools" : "");
}
Array multiply(const Array& a, const Array& b) {
  return binary("mul", "multiply", a, b);
}
Array divide(const Array& a, const Array& b) {
  return inexact_binary("div", "divide", a, b);
}
Array floor_divide(const Array& a, const Array& b) {
  std::vector<Array> pair = matched("floor_divide", a, b);
  // The derivative is 0, where that of the parts would be 0 * inf at a zero divisor.
  for (Array& operand : pair) operand = stop_gradient(operand);
  const Array quotient = apply_one(primitives::binary("div"), pair);
  if (!is_exact(pair[0])) {
    // Python's rule, from what is left: exact where the quotient alone would round to a whole
    // number.
    const Array rest = rem(pair[0], pair[1]);
    const Array exact = divide(subtract(pair[0], rest), pair[1]);
    const Array uneven =
        logical_and(not_equal(rest, zeros_like(rest)), not_equal(sign(pair[1]), sign(rest)));
    const Array whole = round(select(uneven, subtract(exact, 1), exact));
    return select(equal(pair[1], zeros_like(pair[1])), quotient, whole);
  }
  if (is_unsigned_integer(quotient.dtype())) return quotient;
  // Division truncates: one less where signs differ and something is left.
  const Array below = logical_and(not_equal(sign(pair[0]), sign(pair[1])),
                                  not_equal(rem(pair[0], pair[1]), zeros_like(quotient)));
  return select(below, subtract(quotient, 1), quotient);
}
Array power(const Array& a, const Array& b) {
  const std::vector<Array> pair = matched("power", a, b);
  return apply_one(primitives::binary("pow"), pair);
}
Array integer_pow(const Array& x, std::int64_t exponent) {
  Array value = operand("integer_pow", x);
  if (is_bool(value)) value = astype(value, default_int_dtype());
  return apply_one(primitives::integer_pow(exponent), std::vector<Array>{value});
}
Array maximum(const Array& a, const Array& b) {
  return binary("max", "maximum", a, b);
}
Array minimum(const Array& a, const Array& b) {
  return binary("min", "minimum", a, b);
}
Array rem(const Array& a, const Array& b) {
  return binary("rem", "rem", a, b);
}
Array remainder(const Array& a, const Array& b) {
  const std::vector<Array> pair = matched("remainder", a, b);
  const Array rest = rem(pair[0], pair[1]);
  if (is_unsigned_integer(rest.dtype())) return rest;
  const Array zero = zeros_like(rest);
  const Array wrong_sign =
      logical_and(not_equal(less(rest, zero), less(pair[1], zero)), not_equal(rest, zero));
  return select(wrong_sign, add(rest, pair[1]), rest);
}
Array arctan2(const Array& a, const Array& b) {
  return inexact_binary("atan2", "arctan2", a, b);
}
Array logaddexp(const Array& a, const Array& b) {
  const PromotedType type = to_inexact(result_type(std::vector<Array>{a, b}));
  const Shape shape = broadcast_shapes("logaddexp", std::vector<Shape>{a.shape(), b.shape()});
  const Array x = convert_and_broadcast(a, type, shape);
  const Array y = convert_and_broadcast(b, type, shape);
  const Array most = maximum(x, y);
  // Where one is infinite the larger is the answer, and its share of the gradient too; the formula
  // is given zeros there, so that its own derivative stays finite.
  const Array is_finite = isfinite(most);
  const Array nothing = zeros_like(most);
  const Array shift = stop_gradient(select(is_finite, most, nothing));
  const auto less_shift = [&](const Array& operand) {
    return subtract(select(is_finite, operand, nothing), shift);
  };
  // The larger's exponential is 1: left out of the sum, so that a small one of the other counts.
  const Array x_is_larger = greater_equal(x, y);
  const Array larger = expm1(less_shift(select(x_is_larger, x, y)));
  const Array smaller = exp(less_shift(select(x_is_larger, y, x)));
  return select(is_finite, add(shift, log1p(add(larger, smaller))), most);
}

Array logical_and(const Array& a, const Array& b) {
  return binary("and", "logical_and", truth("logical_and", a), truth("logical_and", b));
}
Array logical_or(const Array& a, const Array& b) {
  return binary("or", "logical_or", truth("logical_or", a), truth("logical_or", b));
}
Array logical_xor(const Array& a, const Array& b) {
  return binary("xor", "logical_xor", truth("logical_xor", a), truth("logical_xor", b));
}
Array bitwise_and(const Array& a, const Array& b) {
  return binary("and", "bitwise_and", a, b, Accepts::IntegerOrBool);
}
Array bitwise_or(const Array& a, const Array& b) {
  return binary("or", "bitwise_or", a, b, Accepts::IntegerOrBool);
}
Array bitwise_xor(const Array& a, const Array& b) {
  return binary("xor", "bitwise_xor", a, b, Accepts::IntegerOrBool);
}
Array left_shift(const Array& a, const Array& b) {
  return binary("shift_left", "left_shift", a, b, Accepts::Integer);
}
Array right_shift(const Array& a, const Array& b) {
  const bool is_unsigned = is_unsigned_integer(result_type(std::vector<Array>{a, b}).dtype);
  return binary(is_unsigned ? "shift_right_logical" : "shift_right_arithmetic", "right_shift", a, b,
                Accepts::Integer);
}
Array right_shift_logical(const Array& a, const Array& b) {
  return binary("shift_right_logical", "right_shift_logical", a, b, Accepts::Integer);
}

Array equal(const Array& a, const Array& b) {
  return compared("EQ", "equal", a, b);
}
Array not_equal(const Array& a, const Array& b) {
  return compared("NE", "not_equal", a, b);
}
Array less(const Array& a, const Array& b) {
  return compared("LT", "less", a, b);
}
Array less_equal(const Array& a, const Array& b) {
  return compared("LE", "less_equal", a, b);
}
Array greater(const Array& a, const Array& b) {
  return compared("GT", "greater", a, b);
}
Array greater_equal(const Array& a, const Array& b) {
  return compared("GE", "greater_equal", a, b);
}

Array where(const Array& condition, const Array& x, const Array& y) {
  const Array predicate = truth("where", condition);
  check_operand("where", x);
  check_operand("where", y);
  const PromotedType type = result_type(std::vector<Array>{x, y});
  const Shape shape =
      broadcast_shapes("where", std::vector<Shape>{predicate.shape(), x.shape(), y.shape()});
  return apply_one(primitives::select(),
                   std::vector<Array>{convert_and_broadcast(predicate, {DType::Bool, false}, shape),
                                      convert_and_broadcast(x, type, shape),
                                      convert_and_broadcast(y, type, shape)});
}
Array select(const Array& predicate, const Array& x, const Array& y) {
  const Array p = operand("select", predicate);
  return apply_one(primitives::select(),
                   std::vector<Array>{p, operand("select", x), operand("select", y)});
}
Array clip(const Array& x, const ClipOptions& options) {
  Array result = operand("clip", x);
  if (options.min) result = maximum(result, *options.min);
  if (options.max) result = minimum(result, *options.max);
  return result;
}
Array clip(const Array& x, const Array& min, const Array& max) {
  return clip(x, {.min = min, .max = max});
}
Array astype(const Array& x, DType dtype) {
  check_operand("astype", x);
  if (const auto literal = literal_of(x)) return make_literal(*literal, {dtype, false}, {});
  if (x.dtype() == dtype && !x.weak_type()) return x;
  return apply_one(primitives::convert(dtype), std::vector<Array>{x});
}
Array bitcast_convert_type(const Array& x, DType dtype) {
  return apply_one(primitives::bitcast(dtype),
                   std::vector<Array>{operand("bitcast_convert_type", x)});
}
Array stop_gradient(const Array& x) {
  return unary("stop_gradient", operand("stop_gradient", x));
}
Array optimization_barrier(const Array& x) {
  return apply_one(primitives::optimization_barrier(),
                   std::vector<Array>{operand("optimization_barrier", x)});
}

}  // namespace lockstep
