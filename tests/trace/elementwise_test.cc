// Elementwise ops against JAX: values, gradients, special numbers, integers and narrow types.
#include "lockstep/trace/elementwise.h"

#include <limits>

#include "trace/expected_binary.h"
#include "trace/expected_select.h"
#include "trace/expected_unary.h"
#include "trace/op_cases.h"

namespace lockstep {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_ = std::numeric_limits<float>::quiet_NaN();

struct UnaryRow {
  const char* name;
  UnaryOp op;
  double low;
  double high;
};

const UnaryRow unary_rows[] = {{"negative", negative, -1, 1},
                               {"abs", abs, -1, 1},
                               {"sign", sign, -1, 1},
                               {"exp", exp, -1, 1},
                               {"expm1", expm1, -1, 1},
                               {"log", log, 0.1, 3},
                               {"log1p", log1p, -0.5, 2},
                               {"sqrt", sqrt, 0.1, 3},
                               {"rsqrt", rsqrt, 0.1, 3},
                               {"cbrt", cbrt, -3, 3},
                               {"square", square, -1, 1},
                               {"reciprocal", reciprocal, 0.5, 2},
                               {"tanh", tanh, -2, 2},
                               {"logistic", logistic, -2, 2},
                               {"sin", sin, -3, 3},
                               {"cos", cos, -3, 3},
                               {"tan", tan, -1, 1},
                               {"asin", asin, -0.9, 0.9},
                               {"acos", acos, -0.9, 0.9},
                               {"atan", atan, -2, 2},
                               {"sinh", sinh, -2, 2},
                               {"cosh", cosh, -2, 2},
                               {"asinh", asinh, -2, 2},
                               {"acosh", acosh, 1.1, 3},
                               {"atanh", atanh, -0.9, 0.9},
                               {"erf", erf, -2, 2},
                               {"erf_inv", erf_inv, -0.9, 0.9},
                               {"floor", floor, -3, 3},
                               {"ceil", ceil, -3, 3},
                               {"round", round, -3, 3},
                               {"trunc", trunc, -3, 3},
                               {"isfinite", isfinite, -1, 1},
                               {"isnan", isnan, -1, 1},
                               {"isinf", isinf, -1, 1},
                               {"logical_not", logical_not, -1, 1}};

Array special() {
  return floats({-inf, -2.5f, -1, -0.5f, -0.0f, 0.0f, 0.5f, 1, 1.5f, 2.5f, inf, nan_});
}

OpCases unary_cases() {
  OpCases cases;
  for (const auto& [name, op, low, high] : unary_rows) {
    const std::string text = name;
    cases[text] = of_one(op, random_array({2, 3}, low, high));
    // acosh is for numbers from 1 on.
    cases[text + "_special"] =
        of_one(op, text == "acosh" ? slice_in_dim(special(), 6, 12) : special());
    cases[text + "_bfloat16"] = of_one(op, random_array({4}, low, high, 1, bfloat16));
    // JAX has these for floats only.
    if (text == "rsqrt" || text == "cbrt" || text == "logistic") continue;
    cases[text + "_int32"] = of_one(op, ints({-2, -1, 0, 1, 3}));
  }
  for (std::int64_t exponent = -3; exponent < 6; ++exponent) {
    const auto power_of = [exponent](const Array& x) { return integer_pow(x, exponent); };
    const std::string text = "integer_pow_" + std::to_string(exponent);
    cases[text] = of_one(power_of, random_array({3}, 0.5, 2));
    if (exponent >= 0 && exponent < 5) cases[text + "_special"] = of_one(power_of, special());
  }
  cases["bitwise_not"] = of_one(bitwise_not, ints({-2, 0, 7}));
  cases["population_count"] = of_one(population_count, ints({-1, 0, 7, 256}));
  return cases;
}

TEST(Elementwise, OpsOfOneOperandEqualJax) {
  expect_cases(unary_cases(), expected_unary);
}

struct BinaryRow {
  const char* name;
  BinaryOp op;
};

Array power_of(const Array& a, const Array& b) {
  return power(a, b);
}

const BinaryRow binary_rows[] = {{"add", add},
                                 {"subtract", subtract},
                                 {"multiply", multiply},
                                 {"divide", divide},
                                 {"floor_divide", floor_divide},
                                 {"power", power_of},
                                 {"maximum", maximum},
                                 {"minimum", minimum},
                                 {"remainder", remainder},
                                 {"arctan2", arctan2},
                                 {"logaddexp", logaddexp},
                                 {"logical_and", logical_and},
                                 {"logical_or", logical_or},
                                 {"logical_xor", logical_xor},
                                 {"equal", equal},
                                 {"not_equal", not_equal},
                                 {"less", less},
                                 {"less_equal", less_equal},
                                 {"greater", greater},
                                 {"greater_equal", greater_equal}};
const BinaryRow bit_rows[] = {
    {"bitwise_and", bitwise_and}, {"bitwise_or", bitwise_or},
    {"bitwise_xor", bitwise_xor}, {"left_shift", left_shift},
    {"right_shift", right_shift}, {"right_shift_logical", right_shift_logical}};

// Every pair of special numbers.
std::pair<Array, Array> special_pairs() {
  const std::vector<float> values{-inf, -1.5f, 0, 1, 2, inf, nan_};
  std::vector<float> first, second;
  for (const float a : values) {
    for (const float b : values) {
      first.push_back(a);
      second.push_back(b);
    }
  }
  return {floats(first), floats(second)};
}

OpCases binary_cases() {
  OpCases cases;
  const auto [first, second] = special_pairs();
  const Array dividends = ints({-7, -7, 7, 7, 0, 3});
  const Array divisors = ints({2, -2, 2, -2, 5, 3});
  const Array exponents = ints({2, 3, 0, 1, 5, 4});
  for (const auto& [name, op] : binary_rows) {
    const std::string text = name;
    cases[text] = of_two(op, random_array({2, 3}, 0.5, 2), random_array({3}, 0.5, 2, 2));
    cases[text + "_columns"] =
        of_two(op, random_array({2, 1}, 0.5, 2), random_array({1, 2}, 0.5, 2, 2));
    // JAX gives logaddexp another gradient at infinity; see below.
    if (text != "logaddexp") cases[text + "_special"] = of_two(op, first, second);
    cases[text + "_int32"] = of_two(op, dividends, text == "power" ? exponents : divisors);
  }
  cases["rem"] = of_two(rem, random_array({3}, -5, 5), random_array({3}, 1, 2, 2));
  cases["rem_int32"] = of_two(rem, dividends, divisors);
  for (const auto& [name, op] : bit_rows) {
    const std::string text = name;
    cases[text + "_int32"] = of_two(op, ints({-7, 5, 1, -1, 12}), ints({2, 3, 31, 33, 0}));
    cases[text + "_uint8"] =
        of_two(op, vector_of<std::uint8_t>({200, 5, 255}), vector_of<std::uint8_t>({1, 7, 8}));
  }
  return cases;
}

TEST(Elementwise, OpsOfTwoOperandsEqualJax) {
  expect_cases(binary_cases(), expected_binary);
}

// The share of the larger: JAX 0.10.2 gives 1 by an infinite operand and e^a by the other.
TEST(Elementwise, LogaddexpIsRightAtInfinity) {
  const Array a = floats({inf, 1, -inf, -inf, inf, 2});
  const Array b = floats({1, inf, 1, -inf, inf, nan_});
  expect_near(logaddexp(a, b), {inf, inf, 1, -inf, inf, nan_});
  const auto [by_a, by_b] = grad<0, 1>([](const Array& x, const Array& y) {
    return sum(logaddexp(x, y));
  })(slice_in_dim(a, 0, 5), slice_in_dim(b, 0, 5));
  expect_near(by_a, {1, 0, 0, 0.5, 0.5});
  expect_near(by_b, {0, 1, 1, 0.5, 0.5});
}

OpCases select_cases() {
  OpCases cases;
  const auto one = [&cases](const char* name, std::function<Array(const Array&)> op, Array x) {
    cases[name] = of_one(std::move(op), std::move(x));
  };
  const Array mask = vector_of<bool>({true, false, true});
  const Array x3 = random_array({3});
  const Array y3 = random_array({3}, -1, 1, 2);
  const auto where_of = [](const Arrays& a) { return where(a[0], a[1], a[2]); };
  cases["where"] = {where_of, {mask, random_array({2, 3}), y3}};
  cases["where_number_condition"] = {where_of, {ints({0, -1, 2}), x3, random_array({}, -1, 1, 2)}};
  cases["where_mixed_types"] = {where_of, {mask, ints({1, 2, 3}), x3}};
  cases["select"] = {[](const Arrays& a) { return select(a[0], a[1], a[2]); }, {mask, x3, y3}};
  cases["select_scalar"] =
      of_two([](const Array& x, const Array& y) { return select(false, x, y); }, x3, y3);
  one(
      "clip", [](const Array& x) { return clip(x, -0.5, 0.5); },
      floats({-2, -0.5f, 0, 0.5f, 2, nan_}));
  one(
      "clip_min", [](const Array& x) { return clip(x, {.min = 0}); }, floats({-2, 0, 3}));
  one(
      "clip_max", [](const Array& x) { return clip(x, {.max = 1.5}); }, floats({-2, 0, 3}));
  one(
      "clip_crossed", [](const Array& x) { return clip(x, 1.0, -1.0); }, floats({-2, 0, 3}));
  cases["clip_array_bounds"] = {
      [](const Arrays& a) { return clip(a[0], a[1], a[2]); },
      {random_array({2, 3}, -2, 2), random_array({3}, -1, 0, 2), random_array({2, 1}, 0, 1, 3)}};
  one(
      "astype_int32", [](const Array& x) { return astype(x, int32); },
      floats({-2.7f, -0.5f, 0.5f, 2.7f}));
  one(
      "astype_bool", [](const Array& x) { return astype(x, bool_); },
      floats({-2.7f, 0.0f, -0.0f, nan_}));
  one(
      "astype_bfloat16", [](const Array& x) { return astype(x, bfloat16); }, random_array({4}));
  one(
      "astype_float32_of_bfloat16", [](const Array& x) { return astype(x, float32); },
      random_array({4}, -1, 1, 1, bfloat16));
  one(
      "astype_uint8", [](const Array& x) { return astype(x, uint8); }, ints({0, 255, 256, -1}));
  one(
      "bitcast", [](const Array& x) { return bitcast_convert_type(x, uint32); },
      floats({1.0f, -0.0f}));
  one(
      "stop_gradient", [](const Array& x) { return x * stop_gradient(x); }, x3);
  one(
      "optimization_barrier", [](const Array& x) { return power(optimization_barrier(x), 2); }, x3);
  one(
      "tie_maximum_zero", [](const Array& x) { return maximum(x, 0); }, floats({-1, 0, 1}));
  one(
      "tie_select_zero", [](const Array& x) { return where(x > 0, x, 0); }, floats({-1, 0, 1}));
  one(
      "tie_relu6", [](const Array& x) { return where(x > 0, where(x < 6, x, 6), 0); },
      floats({-1, 0, 3, 6, 7}));
  cases["tie_maximum"] = of_two(maximum, floats({3.14f}), floats({3.14f}));
  one("tie_abs", abs, floats({0.0f, -0.0f}));
  one(
      "tie_max", [](const Array& x) { return max(x); }, floats({3, 1, 3, 3}));
  one(
      "masked_sqrt", [](const Array& x) { return where(x < 1, x, sqrt(x)); },
      floats({0, 1e-9f, 4}));
  one(
      "guarded_sqrt", [](const Array& x) { return sqrt(where(x < 1, 1, x)); }, floats({0, 4}));
  return cases;
}

// C086 and C087 are among them.
TEST(Elementwise, ChoosingAndCastingEqualJax) {
  expect_cases(select_cases(), expected_select);
}

TEST(Elementwise, OperatorsAreTheOps) {
  const Array a = floats({5, -7});
  const Array b = floats({2, 4});
  expect_same(a + b, add(a, b));
  expect_same(a - b, subtract(a, b));
  expect_same(a * b, multiply(a, b));
  expect_same(a / b, divide(a, b));
  expect_same(a % b, remainder(a, b));
  expect_same(-a, negative(a));
  expect_same(a == b, equal(a, b));
  expect_same(a != b, not_equal(a, b));
  expect_same(a < b, less(a, b));
  expect_same(a <= b, less_equal(a, b));
  expect_same(a > b, greater(a, b));
  expect_same(a >= b, greater_equal(a, b));
  const Array i = ints({12, 5});
  const Array j = ints({1, 2});
  expect_same(i & j, bitwise_and(i, j));
  expect_same(i | j, bitwise_or(i, j));
  expect_same(i ^ j, bitwise_xor(i, j));
  expect_same(i << j, left_shift(i, j));
  expect_same(i >> j, right_shift(i, j));
  expect_same(~i, bitwise_not(i));
  Array c = a;
  c += b;
  c *= b;
  c -= b;
  c /= b;
  expect_same(c, divide(subtract(multiply(add(a, b), b), b), b));
}

TEST(Elementwise, TypesThatAnOpDoesNotTakeAreNamed) {
  const Array flags = vector_of<bool>({true, false});
  expect_value_error([&] { (void)negative(flags); }, {"[negative]", "bool[2]"});
  expect_value_error([&] { (void)subtract(flags, flags); },
                     {"[subtract]", "bool[2]", "logical_xor"});
  expect_value_error([] { (void)bitwise_and(floats({1}), ints({1})); },
                     {"float32", "[bitwise_and]"});
  expect_value_error([] { (void)left_shift(floats({1}), floats({1})); },
                     {"float32", "[left_shift]"});
  expect_value_error([] { (void)population_count(floats({1})); },
                     {"[population_count]", "float32[1]"});
  expect_value_error([] { (void)integer_pow(ints({2}), -1); },
                     {"[integer_pow]", "int32[1]", "-1", "astype"});
}

TEST(Elementwise, ShapesThatDoNotFitAreNamed) {
  const Array a = random_array({2, 3});
  const Array b = random_array({4});
  for (const BinaryRow& row : binary_rows) {
    SCOPED_TRACE(row.name);
    expect_value_error([&] { (void)row.op(a, b); }, {"[", "(2, 3)", "(4,)", "equal or 1"});
  }
  expect_value_error([&] { (void)where(true, a, b); }, {"[where]", "(2, 3)", "(4,)"});
  expect_value_error([&] { (void)select(a > 0, a, b); },
                     {"[select]", "float32[2,3]", "float32[4]"});
  expect_value_error([&] { (void)select(a, a, a); }, {"[select]", "float32[2,3]", "bool"});
  expect_value_error([] { (void)bitcast_convert_type(floats({1}), uint8); },
                     {"[bitcast", "float32[1]", "uint8", "widths"});
}

TEST(Elementwise, AnUnassignedArrayIsNamed) {
  expect_value_error([] { (void)add(Array(), floats({1})); }, {"[add]", "never assigned"});
}

}  // namespace
}  // namespace lockstep
