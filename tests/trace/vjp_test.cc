// vjp: pullbacks called once, often, later, inside other transformations, and misuse.
#include "lockstep/trace/vjp.h"

#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/jvp.h"
#include "lockstep/trace/ops.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Vjp, GivesTheValueAndAPullback) {
  const auto [value, pullback] = vjp([](const Array& x) { return sin(x); }, doubles({0, 1}));
  expect_near(value, {0, std::sin(1.0)});
  EXPECT_FALSE(value.is_traced());
  // Any number of times.
  expect_near(pullback(doubles({1, 1})), {1, std::cos(1.0)});
  expect_near(pullback(doubles({0, 2})), {0, 2 * std::cos(1.0)});
}

TEST(Vjp, OfSeveralArgumentsGivesATuple) {
  const auto f = [](const Array& x, const Array& w) { return matmul(x, w); };
  const Array x = array_of<double>({1, 2}, {1, 2});
  const Array w = array_of<double>({3, 4}, {2, 1});
  const auto [value, pullback] = vjp(f, x, w);
  expect_near(value, {11});
  const auto [by_x, by_w] = pullback(array_of<double>({10}, {1, 1}));
  expect_near(by_x, {30, 40});
  expect_near(by_w, {10, 20});
}

TEST(Vjp, OfATreeOfResultsTakesItsStructure) {
  const auto f = [](const Array& x) {
    return Tree{{"double", Tree(x * 2.0)}, {"index", Tree(argmax(x))}, {"square", Tree(x * x)}};
  };
  const auto [value, pullback] = vjp(f, doubles({1, 3}));
  // Cotangents of what is not floating are ignored, null ones are zero.
  expect_near(pullback(Tree{{"double", doubles({1, 1})}, {"index", Array()}, {"square", Array()}}),
              {2, 2});
  expect_near(
      pullback(Tree{{"double", Array()}, {"index", ints({7})}, {"square", doubles({1, 1})}}),
      {2, 6});
}

TEST(Vjp, OfAnUnusedArgumentIsZero) {
  const auto [value, pullback] =
      vjp([](const Array&, const Array& y) { return y; }, doubles({1, 2}), doubles({3}));
  const auto [by_x, by_y] = pullback(doubles({5}));
  expect_near(by_x, {0, 0});
  expect_near(by_y, {5});
}

TEST(Vjp, AResultMayBeAnArgumentOrOccurTwice) {
  const auto f = [](const Array& x) { return std::vector<Array>{x, x}; };
  const auto [value, pullback] = vjp(f, doubles({1}));
  expect_near(pullback({doubles({2}), doubles({3})}), {5});
}

TEST(Vjp, PullsBackInsideOtherTransformations) {
  // The pullback of x -> x^3 at 2 is linear in the cotangent: its derivative is 12.
  const auto [value, pullback] =
      vjp([](const Array& x) { return x * x * x; }, Array(HostTensor::scalar(2.0)));
  const auto pulled = [&pullback = pullback](const Array& c) { return pullback(c); };
  expect_near(grad(pulled)(HostTensor::scalar(5.0)), {12});
  expect_near(jit(pulled)(HostTensor::scalar(2.0)), {24});

  const auto by_hand = [](const Array& x) {
    const auto [y, back] = vjp([](const Array& a) { return a * a * a; }, x);
    return sum(back(ones_like(y)));
  };
  const Array at = doubles({1, 2});
  expect_near(by_hand(at), {15});
  expect_near(grad(by_hand)(at), {6, 12});
  expect_near(jit(grad(by_hand))(at), {6, 12});
  expect_near(grad([&](const Array& x) { return sum(grad(by_hand)(x)); })(at), {6, 6});
}

// <Jv, w> = <v, J^T w>.
TEST(Vjp, IsTheTransposeOfJvp) {
  const auto f = [](const Array& a) { return matmul(tanh(a), transpose(a)) * exp(-sum(a)); };
  const Array x = random_array({3, 2}, -1, 1, 1, DType::Float64);
  const Array v = random_array({3, 2}, -1, 1, 2, DType::Float64);
  const Array w = random_array({3, 3}, -1, 1, 3, DType::Float64);
  const Array forward = sum(jvp(f, x, v).second * w);
  const Array reverse = sum(v * vjp(f, x).second(w));
  expect_near(forward, as_doubles(reverse), 1e-13);
}

TEST(Vjp, RefusesAnotherStructureShapeOrType) {
  const auto [value, pullback] = vjp([](const Array& x) { return x * 2.0; }, doubles({1, 2}));
  const auto& pull = pullback;
  EXPECT_THAT(
      error_text<ValueError>([&] { (void)pull(doubles({1})); }),
      AllOf(HasSubstr("[vjp] the cotangent is float64[1]"),
            HasSubstr("the result there is float64[2]"), HasSubstr("must be the result's")));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)pull(floats({1, 2}));
              }),
              HasSubstr("the cotangent is float32[2]"));
  const auto [list, back] = vjp([](const Array& x) { return Tree::List{x}; }, doubles({1}));
  EXPECT_THAT(error_text<ValueError>([&] { (void)back(Tree::List{}); }),
              HasSubstr("it must have the result's structure"));
  EXPECT_THAT(
      error_text<ValueError>([] { (void)vjp([](const Array& x) { return x; }, ints({1})); }),
      AllOf(HasSubstr("argument 0 is int32[1]"), HasSubstr("astype")));
}

TEST(Vjp, APullbackOfATraceThatIsOverIsRefused) {
  std::optional<VjpFunction<Array, Array>> kept;
  (void)jit([&](const Array& x) {
    auto [y, pullback] = vjp([](const Array& a) { return sin(a); }, x);
    kept.emplace(pullback);
    return y;
  })(doubles({1}));
  EXPECT_THAT(error_text<ValueError>([&] { (void)(*kept)(doubles({1})); }),
              HasSubstr("outside the trace that made it"));
}

}  // namespace
}  // namespace lockstep
