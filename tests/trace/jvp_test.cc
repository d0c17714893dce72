// jvp: trees, zero tangents, other transformations inside and around it, and misuse.
#include "lockstep/trace/jvp.h"

#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Array cubed(const Array& x) {
  return x * x * x;
}

TEST(Jvp, GivesTheValueAndTheDirectionalDerivative) {
  const auto [value, tangent] = jvp(cubed, doubles({1, 2}), doubles({1, 0.5}));
  expect_near(value, {1, 8});
  expect_near(tangent, {3, 6});
  EXPECT_FALSE(value.is_traced());
  EXPECT_FALSE(tangent.is_traced());
}

TEST(Jvp, OfSeveralArgumentsAddsTheirParts) {
  const auto f = [](const Array& x, const Array& y) { return x * y; };
  const auto [value, tangent] = jvp(f, std::tuple(doubles({2, 3}), doubles({5, 7})),
                                    std::tuple(doubles({1, 0}), doubles({0, 1})));
  expect_near(value, {10, 21});
  expect_near(tangent, {5, 3});
}

TEST(Jvp, ANullTangentIsZero) {
  const auto f = [](const Array& x, const Array& y) { return x * y; };
  const auto [value, tangent] =
      jvp(f, std::tuple(doubles({2}), doubles({5})), std::tuple(Array(), doubles({1})));
  expect_near(tangent, {2});
  const auto none = jvp(f, std::tuple(doubles({2}), doubles({5})), std::tuple(Array(), Array()));
  expect_near(none.second, {0});
}

TEST(Jvp, OfATreeHasTheResultsStructure) {
  const auto f = [](const Tree& p) {
    return Tree{{"a", Tree(p["x"].leaf() * 2.0)}, {"n", Tree(argmax(p["x"].leaf()))}};
  };
  const auto [value, tangent] = jvp(f, Tree{{"x", doubles({1, 4})}}, Tree{{"x", doubles({3, 0})}});
  expect_near(value["a"].leaf(), {2, 8});
  expect_near(tangent["a"].leaf(), {6, 0});
  // JAX's float0: what is not floating has the tangent 0.
  expect_near(tangent["n"].leaf(), {0});
}

TEST(Jvp, OfWhatDoesNotDependIsZero) {
  const auto f = [](const Array& x) { return std::vector<Array>{stop_gradient(x), ones({2})}; };
  const auto [value, tangent] = jvp(f, doubles({1}), doubles({1}));
  expect_near(tangent[0], {0});
  expect_near(tangent[1], {0, 0});
}

TEST(Jvp, ComposesWithItself) {
  // The third derivative of x^3 along 1, 1, 1.
  const auto first = [](const Array& x) { return jvp(cubed, x, ones_like(x)).second; };
  const auto second = [&](const Array& x) { return jvp(first, x, ones_like(x)).second; };
  const auto third = [&](const Array& x) { return jvp(second, x, ones_like(x)).second; };
  expect_near(second(doubles({2})), {12});
  expect_near(third(doubles({2})), {6});
  expect_near(jit(third)(doubles({2})), {6});
}

// Perturbations of nested derivatives are told apart (the classic confusion).
TEST(Jvp, NestedPerturbationsAreNotConfused) {
  const auto f = [](const Array& x) {
    const auto inner = [&](const Array& y) { return x * y; };
    return x * jvp(inner, Array(HostTensor::scalar(1.0)), Array(HostTensor::scalar(1.0))).second;
  };
  expect_near(jvp(f, Array(HostTensor::scalar(3.0)), Array(HostTensor::scalar(1.0))).second, {6});
}

TEST(Jvp, ForwardOverReverseIsReverseOverForward) {
  const Array x = random_array({4}, -1, 1, 1, DType::Float64);
  const Array v = random_array({4}, -1, 1, 2, DType::Float64);
  const auto f = [](const Array& a) { return sum(sin(a) * exp(a * a)); };
  const Array forward_over_reverse = jvp(grad(f), x, v).second;
  const auto along = [&](const Array& a) { return jvp(f, a, v).second; };
  const Array reverse_over_forward = grad(along)(x);
  expect_near(forward_over_reverse, as_doubles(reverse_over_forward), 1e-13);
  const auto inside = jit([&](const Array& a) { return jvp(grad(f), a, v).second; });
  expect_near(inside(x), as_doubles(reverse_over_forward), 1e-13);
}

TEST(Jvp, OfAChainOf20000OpsIsLinear) {
  const auto chain = [](const Array& x) {
    Array y = x;
    for (int i = 0; i < 20000; ++i) y = y + 1e-4 * y;
    return y;
  };
  const auto program = [&](const Array& x) { return jvp(chain, x, ones_like(x)).second; };
  const auto recorded =
      record([&](std::span<const Array> x) { return std::vector<Array>{program(x[0])}; },
             std::vector<AbstractValue>{{.shape = {}, .dtype = DType::Float64}});
  EXPECT_LT(recorded.graph->nodes().size(), 200000U);
}

TEST(Jvp, RefusesWhatDoesNotFit) {
  const auto f = [](const Array& x) { return x; };
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)jvp(f, doubles({1, 2}), doubles({1}));
              }),
              AllOf(HasSubstr("[jvp] argument 0 is float64[2]"),
                    HasSubstr("its tangent is float64[1]"), HasSubstr("must be equal")));
  EXPECT_THAT(error_text<ValueError>([&] { (void)jvp(f, doubles({1}), floats({1})); }),
              HasSubstr("its tangent is float32[1]"));
  EXPECT_THAT(error_text<ValueError>([&] { (void)jvp(f, ints({1}), ints({1})); }),
              AllOf(HasSubstr("argument 0 is int32[1] and takes no tangent"),
                    HasSubstr("leave its tangent null")));
  const auto of_tree = [](const Tree& t) { return t; };
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)jvp(of_tree, Tree{{"a", doubles({1})}}, Tree{{"b", doubles({1})}});
              }),
              AllOf(HasSubstr("the tangent of argument 0 is"), HasSubstr("one structure")));
}

}  // namespace
}  // namespace lockstep
