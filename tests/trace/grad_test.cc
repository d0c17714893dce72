// grad and value_and_grad: trees, several arguments, higher orders, inside jit and out, and misuse.
#include "lockstep/trace/grad.h"

#include <numbers>

#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/tree/algorithms.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

Array square_sum(const Array& x) {
  return sum(square(x));
}

TEST(Grad, IsTheGradientOfAScalarFunction) {
  const Array gradient = grad(square_sum)(floats({1, -2, 3}));
  EXPECT_EQ(gradient.dtype(), DType::Float32);
  EXPECT_FALSE(gradient.is_traced());
  expect_near(gradient, {2, -4, 6});
}

TEST(Grad, OfALiteralIsANumber) {
  expect_near(grad([](const Array& x) { return x * x; })(3.0), {6});
}

TEST(ValueAndGrad, GivesBoth) {
  const auto [value, gradient] = value_and_grad(square_sum)(floats({1, 2}));
  expect_near(value, {5});
  expect_near(gradient, {2, 4});
  EXPECT_FALSE(value.is_traced());
}

TEST(Grad, ByTheArgumentsNamed) {
  const auto f = [](const Array& x, const Array& y, const Array& z) { return sum(x * y * y + z); };
  const auto [by_z, by_y] = grad<2, 1>(f)(floats({1, 2}), floats({3, 4}), floats({5, 6}));
  expect_near(by_z, {1, 1});
  expect_near(by_y, {6, 16});
  expect_near(grad(f)(floats({1, 2}), floats({3, 4}), floats({5, 6})), {9, 16});
}

TEST(Grad, OfATreeHasItsStructure) {
  const Tree params{{"dense", Tree{{"kernel", floats({1, 2})}, {"bias", floats({3})}}}};
  const auto loss = [](const Tree& p) {
    return sum(p["dense"]["kernel"].leaf() * 2.0) + sum(power(p["dense"]["bias"].leaf(), 2));
  };
  const Tree gradient = grad(loss)(params);
  EXPECT_EQ(structure_of(gradient), structure_of(params));
  expect_near(gradient["dense"]["kernel"].leaf(), {2, 2});
  expect_near(gradient["dense"]["bias"].leaf(), {6});
}

TEST(Grad, HandsAuxiliaryOutputThrough) {
  const auto f = [](const Array& x) { return std::pair(square_sum(x), x * 10.0); };
  const auto [gradient, aux] = grad(f)(floats({1, 2}));
  expect_near(gradient, {2, 4});
  expect_near(aux, {10, 20});
  EXPECT_FALSE(aux.is_traced());
  const auto [value, by_x] = value_and_grad(f)(floats({1, 2}));
  expect_near(value.first, {5});
  expect_near(value.second, {10, 20});
  expect_near(by_x, {2, 4});
}

TEST(Grad, OfWhatIsNotUsedIsZero) {
  const auto f = [](const Array&, const Array& y) { return sum(y); };
  expect_near(grad(f)(floats({1, 2}), floats({3})), {0, 0});
  const auto stopped = [](const Array& x) { return sum(stop_gradient(x)); };
  expect_near(grad(stopped)(floats({1, 2})), {0, 0});
  const auto constant = [](const Array&) { return zeros({}); };
  expect_near(grad(constant)(floats({1, 2})), {0, 0});
}

TEST(Grad, AddsOverAllUsesOfAValue) {
  const auto f = [](const Array& x) { return sum(x * x + sin(x) + x); };
  expect_near(grad(f)(floats({0.5f})), {2 * 0.5 + std::cos(0.5) + 1});
}

TEST(Grad, MayPassThroughIntegersAndBools) {
  const auto f = [](const Array& x) {
    return sum(where(astype(x, int32) > 1, x * 3.0, x)) + astype(argmax(x), float32);
  };
  expect_near(grad(f)(floats({0.5f, 2.5f})), {1, 3});
}

TEST(Grad, OfHigherOrder) {
  const auto f = [](const Array& x) { return tanh(2.0 * x); };
  const double y = std::tanh(1.0);
  const double slope = 1 - y * y;
  const Array at = HostTensor::scalar(0.5);
  // C089: first, second and third derivative of tanh(2x).
  expect_near(grad(f)(at), {2 * slope}, 1e-12);
  expect_near(grad(grad(f))(at), {-8 * y * slope}, 1e-12);
  expect_near(grad(grad(grad(f)))(at), {-16 * slope * (1 - 3 * y * y)}, 1e-12);
  expect_near(jit([&](const Array& x) { return grad(grad(grad(f)))(x); })(at),
              {-16 * slope * (1 - 3 * y * y)}, 1e-12);
}

// C089: the residual of a heat equation, point by point and as a batch.
TEST(Grad, OfAPartialDifferentialEquation) {
  const auto u = [](const Array& x, const Array& t) { return sin(std::numbers::pi * x) * exp(-t); };
  const auto residual = [&](const Array& x, const Array& t) {
    return grad<1>(u)(x, t) - grad(grad(u))(x, t);
  };
  const Array x = HostTensor::scalar(0.3);
  const Array t = HostTensor::scalar(0.2);
  const double value = std::sin(std::numbers::pi * 0.3) * std::exp(-0.2);
  const double exact = value * (std::numbers::pi * std::numbers::pi - 1);
  expect_near(residual(x, t), {exact}, 1e-12);
  expect_near(jit(residual)(x, t), {exact}, 1e-12);
  const auto total = [&](const Array& xs, const Array& ts) { return sum(u(xs, ts)); };
  const Array xs = doubles({0.1, 0.3, 0.5, 0.7, 0.9});
  const Array ts = doubles({0.2, 0.2, 0.2, 0.2, 0.2});
  const auto batch = [&](const Array& a, const Array& b) {
    const auto by_x = [&](const Array& c) { return sum(grad(total)(c, b)); };
    return grad<1>(total)(a, b) - grad(by_x)(a);
  };
  const std::vector<double> found = as_doubles(jit(batch)(xs, ts));
  ASSERT_EQ(found.size(), 5u);
  EXPECT_NEAR(found[1], exact, 1e-12);
}

TEST(Grad, EagerAndCompiledAgree) {
  const auto f = [](const Array& w) { return mean(square(tanh(matmul(w, transpose(w))))); };
  const Array w = random_array({4, 3}, -1, 1, 5, float64);
  expect_near(grad(f)(w), as_doubles(jit(grad(f))(w)), 1e-12);
}

TEST(Grad, SeesJittedFunctions) {
  const auto inner = jit([](const Array& x) { return sin(x) * x; });
  const auto f = [&](const Array& x) { return sum(inner(x)); };
  expect_near(grad(f)(floats({0.5f})), {std::sin(0.5) + 0.5 * std::cos(0.5)});
}

TEST(Grad, DoesNotDifferentiateOuterVariables) {
  // d/dx of x * d/dy (x * y^2) at y = 3: the inner derivative depends on the outer x.
  const auto outer = [](const Array& x) {
    return x * grad([&](const Array& y) { return x * y * y; })(HostTensor::scalar(3.0f));
  };
  expect_near(grad(outer)(HostTensor::scalar(2.0f)), {24});
}

TEST(Grad, RefusesIntegersNamingThePath) {
  const Tree params{{"w", floats({1})}, {"steps", ints({3})}};
  const auto f = [](const Tree& p) { return sum(p["w"].leaf()); };
  expect_value_error([&] { (void)grad(f)(params); }, {"[value_and_grad]", "argument 0", "'steps'",
                                                      "int32[1]", "astype", "argnums"});
}

TEST(Grad, RefusesWhatIsNoScalar) {
  const auto vector = [](const Array& x) { return x * 2.0; };
  expect_value_error(
      [&] {
        (void)grad(vector)(floats({1, 2}));
      },
      {"[value_and_grad]", "scalar", "float32[2]", "sum or mean"});
  expect_value_error([&] { (void)grad(vector)(floats({1})); }, {"float32[1]", "reshape"});
  const auto integer = [](const Array& x) { return argmax(x); };
  expect_value_error([&] { (void)grad(integer)(floats({1, 2})); }, {"int32[]", "floating-point"});
  const auto tree = [](const Array& x) { return Tree{{"loss", sum(x)}}; };
  expect_value_error([&] { (void)grad(tree)(floats({1})); }, {"dict", "auxiliary"});
  expect_value_error([&] { (void)grad(square_sum)(Array()); }, {"argument 0", "no value"});
}

// A value of the tape is kept beyond the differentiation.
TEST(Grad, RefusesALeakedValue) {
  Array leaked;
  (void)grad([&](const Array& x) {
    leaked = x * 2.0;
    return sum(x);
  })(floats({1}));
  expect_value_error([&] { (void)(leaked + 1.0); }, {"[add]", "float32[1]", "outside the trace"});
}

// An error in the function leaves no trace open behind it.
TEST(Grad, RecoversFromAnErrorInTheFunction) {
  const auto broken = [](const Array& x) -> Array { return x + floats({1, 2, 3}); };
  EXPECT_THROW((void)grad(broken)(floats({1, 2})), ValueError);
  EXPECT_EQ(current_graph(), nullptr);
  expect_near(grad(square_sum)(floats({1})), {2});
}

}  // namespace
}  // namespace lockstep
