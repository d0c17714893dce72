// Cases from the field, by number: derivatives at their edges, and derivatives of derivatives.
#include <cmath>
#include <limits>
#include <numbers>

#include "lockstep/nn/activations.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "trace_test_support.h"

namespace lockstep {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The derivative of a function of one number at each of `points`, eager and compiled.
template <class Function>
void expect_derivatives(const Function& function, const std::vector<float>& points,
                        const std::vector<double>& expected) {
  ASSERT_EQ(points.size(), expected.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    SCOPED_TRACE(points[i]);
    const Array at = HostTensor::scalar(points[i]);
    expect_near(grad(function)(at), {expected[i]});
    expect_near(jit(grad(function))(at), {expected[i]});
  }
}

// The branch that is not taken has an infinite slope at 0, and 0 times infinity is no number.
TEST(DerivativeCases, C086_WhereOfAnUnguardedBranchIsNaNAndAGuardedOneIsNot) {
  expect_derivatives([](const Array& x) { return where(x < 1, x, sqrt(x)); }, {0, 1e-9f, 4},
                     {nan, 1, 0.25});
  const auto guarded = [](const Array& x) { return sqrt(where(x < 1, 1, x)); };
  expect_derivatives([&](const Array& x) { return where(x < 1, x, guarded(x)); }, {0, 4},
                     {1, 0.25});
}

TEST(DerivativeCases, C087_TiesHaveJaxsDerivatives) {
  expect_derivatives([](const Array& x) { return maximum(x, 0); }, {0}, {0.5});
  expect_derivatives([](const Array& x) { return select(x > 0, x, zeros_like(x)); }, {0}, {0});
  expect_derivatives([](const Array& x) { return nn::relu(x); }, {0}, {0});
  expect_derivatives([](const Array& x) { return nn::relu6(x); }, {0, 6}, {0, 0});
  expect_derivatives([](const Array& x) { return abs(x); }, {0}, {1});
  expect_near(grad([](const Array& x) { return max(x); })(floats({3, 1, 3, 3})),
              {1.0 / 3, 0, 1.0 / 3, 1.0 / 3});
  const auto greater = [](const Array& a, const Array& b) { return maximum(a, b); };
  const Array tie = HostTensor::scalar(3.14f);
  expect_near(grad<0>(greater)(tie, tie), {0.5});
  expect_near(grad<1>(greater)(tie, tie), {0.5});
}

Array wave(const Array& x, const Array& t) {
  return sin(std::numbers::pi * x) * exp(-t);
}

// u_t - u_xx for a function that is summed over points which do not meet.
Array residual(const Array& x, const Array& t) {
  const auto total = [](const Array& a, const Array& b) { return sum(wave(a, b)); };
  const auto total_slope = [&](const Array& a) { return sum(grad(total)(a, t)); };
  return grad<1>(total)(x, t) - grad(total_slope)(x);
}

TEST(DerivativeCases, C089_DerivativesOfAPartialDifferentialEquation) {
  const Array x = HostTensor::scalar(0.3);
  const Array t = HostTensor::scalar(0.2);
  expect_near(grad<1>(wave)(x, t), {-0.662367}, 1e-6);
  expect_near(grad(wave)(x, t), {1.511853}, 1e-6);
  const auto slope = [&](const Array& a) { return grad(wave)(a, t); };
  expect_near(grad(slope)(x), {-6.537302}, 1e-6);
  expect_near(jit(residual)(x, t), {5.87493408}, 1e-9);
  const float narrow_x = 0.3f;
  const float narrow_t = 0.2f;
  expect_near(
      jit(residual)(Array(HostTensor::scalar(narrow_x)), Array(HostTensor::scalar(narrow_t))),
      {5.874934}, 2e-6);
}

TEST(DerivativeCases, C089_ThreeDerivativesOfTanh) {
  const auto f = [](const Array& x) { return tanh(2.0 * x); };
  const Array at = HostTensor::scalar(0.5);
  expect_near(grad(f)(at), {0.8399487}, 1e-7);
  expect_near(grad(grad(f))(at), {-2.5588000}, 1e-7);
  expect_near(grad(grad(grad(f)))(at), {4.9730134}, 1e-7);
}

TEST(DerivativeCases, C089_ABatchOfPointsIsThePointsOneByOneAndShardsAreTheWhole) {
  const std::vector<double> places{0.1, 0.3, 0.5, 0.7, 0.9};
  const Array xs = doubles(places);
  const Array ts = full_like(xs, 0.2);
  const std::vector<double> batch = as_doubles(jit(residual)(xs, ts));
  ASSERT_EQ(batch.size(), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::vector<double> alone =
        as_doubles(residual(Array(HostTensor::scalar(places[i])), Array(HostTensor::scalar(0.2))));
    EXPECT_NEAR(batch[i], alone.at(0), 1e-6) << places[i];
  }
  EXPECT_NEAR(batch[1], 5.87493408, 1e-8);

  const std::vector<Device>& all = devices("cpu");
  const Mesh mesh(std::vector<Device>(all.begin(), all.begin() + 4), "data");
  const Sharding rows = NamedSharding{mesh, {{"data"}}};
  const Array many = random_array({8}, 0, 1, 3, float64);
  const Array times = random_array({8}, 0, 1, 4, float64);
  const Array split = jit(residual)(device_put(many, rows), device_put(times, rows));
  EXPECT_EQ(split.sharding().devices().size(), 4U);
  expect_near(split, as_doubles(jit(residual)(many, times)), 1e-12);
}

}  // namespace
}  // namespace lockstep
