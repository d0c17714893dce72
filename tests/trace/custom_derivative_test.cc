// custom_vjp, custom_jvp and checkpoint: their rules are used, under every transformation.
#include "lockstep/trace/custom_derivative.h"

#include "lockstep/trace/control_flow.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/hessian.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/jvp.h"
#include "lockstep/trace/ops.h"
#include "lockstep/trace/vmap.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Array scalar(double value) {
  return HostTensor::scalar(value);
}

// sin whose derivative is ten times too large, so that its use shows.
const auto loud_sine = custom_vjp([](const Array& x) { return sin(x); },
                                  [](const Array& x) { return std::pair(sin(x), x); },
                                  [](const Array& x, const Array& g) { return g * 10.0 * cos(x); });

TEST(CustomVjp, UsesItsRule) {
  const double want = 10 * std::cos(0.5);
  expect_near(loud_sine(scalar(0.5)), {std::sin(0.5)});
  expect_near(grad([](const Array& x) { return loud_sine(x); })(scalar(0.5)), {want});
  expect_near(jit(grad([](const Array& x) { return loud_sine(x); }))(scalar(0.5)), {want});
  expect_near(vmap(grad([](const Array& x) { return loud_sine(x); }))(doubles({0.5, 0})),
              {want, 10});
  expect_near(grad([](const Array& x) { return sum(vmap(loud_sine)(x)); })(doubles({0.5, 0})),
              {want, 10});
  // The rule is differentiated in its turn: forward over reverse.
  expect_near(jvp(grad([](const Array& x) { return loud_sine(x); }), scalar(0.5), scalar(1)).second,
              {-10 * std::sin(0.5)});
}

TEST(CustomVjp, OfSeveralArgumentsGivesATuple) {
  const auto product = custom_vjp([](const Array& a, const Array& b) { return a * b; },
                                  [](const Array& a, const Array& b) {
                                    return std::pair(a * b, std::vector<Array>{a, b});
                                  },
                                  [](const std::vector<Array>& r, const Array& g) {
                                    return std::tuple(2.0 * g * r[1], Array());
                                  });
  const auto f = [&](const Array& a, const Array& b) { return sum(product(a, b)); };
  const auto [by_a, by_b] = grad<0, 1>(f)(scalar(3), scalar(5));
  expect_near(by_a, {10});
  expect_near(by_b, {0});
  // A shared argument gets the sum over the batch.
  const auto total = [&](const Array& a) {
    return sum(vmap(product, {.in_axes = {std::nullopt, 0}})(a, doubles({1, 2, 3})));
  };
  expect_near(grad(total)(scalar(4)), {12});
}

TEST(CustomVjp, RefusesForwardModeAndWhatItCaptured) {
  EXPECT_THAT(error_text<ValueError>([] {
                (void)jvp([](const Array& x) { return loud_sine(x); }, scalar(1), scalar(1));
              }),
              AllOf(HasSubstr("[custom_vjp] it has a rule for reverse mode only"),
                    HasSubstr("custom_jvp")));
  const auto captures = [](const Array& w) {
    return custom_vjp([&](const Array& x) { return x * w; },
                      [&](const Array& x) { return std::pair(x * w, x); },
                      [](const Array&, const Array& g) { return g; })(scalar(2));
  };
  EXPECT_THAT(error_text<ValueError>([&] { (void)grad(captures)(scalar(3)); }),
              AllOf(HasSubstr("enclosing trace"), HasSubstr("pass that value as an argument")));
  const auto misshapen = custom_vjp([](const Array& x) { return sum(x); },
                                    [](const Array& x) { return std::pair(sum(x), x); },
                                    [](const Array&, const Array& g) { return g; });
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)grad([&](const Array& x) { return misshapen(x); })(doubles({1, 2}));
              }),
              AllOf(HasSubstr("cotangent of type float64[]"), HasSubstr("float64[2]")));
}

// x^2 with the derivative 3x.
const auto odd_square = custom_jvp([](const Array& x) { return x * x; },
                                   [](const std::tuple<Array>& x, const std::tuple<Array>& t) {
                                     return std::pair(std::get<0>(x) * std::get<0>(x),
                                                      3.0 * std::get<0>(x) * std::get<0>(t));
                                   });

TEST(CustomJvp, ServesBothModes) {
  const auto f = [](const Array& x) { return odd_square(x); };
  expect_near(f(scalar(2)), {4});
  expect_near(jvp(f, scalar(2), scalar(5)).second, {30});
  expect_near(grad(f)(scalar(2)), {6});
  expect_near(jit(grad(f))(scalar(2)), {6});
  expect_near(vmap(grad(f))(doubles({1, 2})), {3, 6});
  expect_near(grad([&](const Array& x) { return sum(vmap(f)(x)); })(doubles({1, 2})), {3, 6});
  expect_near(hessian(f)(scalar(2)), {3});
  expect_near(grad(grad(f))(scalar(2)), {3});
}

TEST(Checkpoint, HasTheValuesAndDerivativesOfTheFunction) {
  const auto plain = [](const Array& x, const Array& w) { return tanh(matmul(x, w)); };
  const auto saved = checkpoint(plain);
  const auto chain = [](const auto& layer) {
    return [layer](const Array& x, const Array& w) {
      return sum(square(layer(layer(layer(x, w), w), w)));
    };
  };
  const Array x = random_array({2, 3}, -1, 1, 1, DType::Float64);
  const Array w = random_array({3, 3}, -1, 1, 2, DType::Float64);
  const auto want = chain(plain);
  const auto found = chain(saved);
  expect_near(found(x, w), as_doubles(want(x, w)), 1e-14);
  expect_near(grad<1>(found)(x, w), as_doubles(grad<1>(want)(x, w)), 1e-13);
  expect_near(jit(grad<1>(found))(x, w), as_doubles(grad<1>(want)(x, w)), 1e-13);
  const auto by_w = [&](const auto& f) { return [&f, &x](const Array& a) { return f(x, a); }; };
  const Array v = random_array({3, 3}, -1, 1, 3, DType::Float64);
  expect_near(jvp(by_w(found), w, v).second, as_doubles(jvp(by_w(want), w, v).second), 1e-13);
  expect_near(hvp(by_w(found), w, v), as_doubles(hvp(by_w(want), w, v)), 1e-12);
  const auto along = [&](const auto& f) {
    return [f, &v](const Array& a) { return sum(grad(f)(a) * v); };
  };
  expect_near(grad(along(by_w(found)))(w), as_doubles(hvp(by_w(want), w, v)), 1e-12);
}

TEST(Checkpoint, ComputesItsInsideAgain) {
  const auto layer = [](const Array& x) { return sin(sin(x)); };
  const auto count = [](const std::string& text) {
    std::size_t found = 0;
    for (auto at = text.find("stablehlo.sine"); at != std::string::npos;
         at = text.find("stablehlo.sine", at + 1)) {
      ++found;
    }
    return found;
  };
  const auto text = [](const auto& f) {
    return jit(grad(f)).lower(shape_dtype_struct({}, DType::Float64));
  };
  EXPECT_EQ(count(text(layer)), 1U);  // the inner sine, kept for the backward pass
  const std::string saved = text(checkpoint(layer));
  EXPECT_THAT(saved, HasSubstr("stablehlo.optimization_barrier"));
}

}  // namespace
}  // namespace lockstep
