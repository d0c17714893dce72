// vmap: axes, trees, nesting, other transformations inside and around it, and misuse.
#include "lockstep/trace/vmap.h"

#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/jvp.h"
#include "lockstep/trace/ops.h"
#include "lockstep/trace/random.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Vmap, MapsOverAxis0) {
  const auto dot = [](const Array& x, const Array& y) { return sum(x * y); };
  const Array x = array_of<double>({1, 2, 3, 4}, {2, 2});
  const Array y = array_of<double>({5, 6, 7, 8}, {2, 2});
  const Array result = vmap(dot)(x, y);
  EXPECT_EQ(result.shape(), Shape{2});
  expect_near(result, {17, 53});
  EXPECT_FALSE(result.is_traced());
}

TEST(Vmap, SharesWhatIsNotMappedAndCountsAxesFromTheEnd) {
  const auto f = [](const Array& m, const Array& x) { return matmul(m, x); };
  const Array m = array_of<double>({1, 2, 3, 4}, {2, 2});
  const Array x = array_of<double>({1, 0, 2, 0, 1, 3}, {2, 3});  // three columns
  const Array result = vmap(f, {.in_axes = {std::nullopt, -1}})(m, x);
  EXPECT_EQ(result.shape(), (Shape{3, 2}));
  expect_near(result, {1, 3, 2, 4, 8, 18});
  const Array last = vmap(f, {.in_axes = {std::nullopt, 1}, .out_axes = -1})(m, x);
  EXPECT_EQ(last.shape(), (Shape{2, 3}));
  expect_near(last, {1, 2, 8, 3, 4, 18});
}

TEST(Vmap, RepeatsResultsThatDoNotDependOnTheBatch) {
  const auto f = [](const Array& x) { return std::vector<Array>{x + 1.0, ones({2})}; };
  const auto result = vmap(f)(doubles({1, 2, 3}));
  expect_near(result[0], {2, 3, 4});
  EXPECT_EQ(result[1].shape(), (Shape{3, 2}));
}

TEST(Vmap, TakesTreesAndGivesTrees) {
  const auto f = [](const Tree& p, const Array& x) {
    return Tree{{"y", Tree(matmul(x, p["w"].leaf()) + p["b"].leaf())}};
  };
  const Tree p{{"b", doubles({10})}, {"w", array_of<double>({1, 2}, {2, 1})}};
  const Array x = array_of<double>({1, 1, 2, 3}, {2, 2});
  const Tree result = vmap(f, {.in_axes = {std::nullopt, 0}})(p, x);
  EXPECT_EQ(result["y"].leaf().shape(), (Shape{2, 1}));
  expect_near(result["y"].leaf(), {13, 18});
}

TEST(Vmap, Nests) {
  // All pairs: the outer product.
  const auto product = [](const Array& x, const Array& y) { return x * y; };
  const auto inner = [&](const Array& x, const Array& y) {
    return vmap(product, {.in_axes = {std::nullopt, 0}})(x, y);
  };
  const auto outer = vmap(inner, {.in_axes = {0, std::nullopt}});
  const Array result = outer(doubles({1, 2}), doubles({3, 4, 5}));
  EXPECT_EQ(result.shape(), (Shape{2, 3}));
  expect_near(result, {3, 4, 5, 6, 8, 10});
  expect_near(jit([&](const Array& x, const Array& y) { return outer(x, y); })(doubles({1, 2}),
                                                                               doubles({3, 4, 5})),
              {3, 4, 5, 6, 8, 10});
}

TEST(Vmap, OfGradGivesPerExampleGradients) {
  const auto loss = [](const Array& w, const Array& x) { return square(sum(w * x)); };
  const Array w = doubles({1, 2});
  const Array x = array_of<double>({1, 0, 0, 1, 1, 1}, {3, 2});
  const auto per_example = vmap(grad(loss), {.in_axes = {std::nullopt, 0}});
  const Array result = per_example(w, x);
  EXPECT_EQ(result.shape(), (Shape{3, 2}));
  expect_near(result, {2, 0, 0, 4, 6, 6});
  expect_near(jit([&](const Array& a, const Array& b) { return per_example(a, b); })(w, x),
              as_doubles(result));
}

TEST(Vmap, InsideGradAndJvp) {
  const auto total = [](const Array& a) {
    return sum(vmap([](const Array& row) { return prod(sin(row)); })(a));
  };
  const Array x = random_array({3, 2}, 0.2, 1, 1, DType::Float64);
  const auto by_rows = [](const Array& a) {
    Array all;
    for (int i = 0; i < 3; ++i) {
      const Array row = prod(sin(index_in_dim(a, i)));
      all = all.is_null() ? row : all + row;
    }
    return all;
  };
  expect_near(grad(total)(x), as_doubles(grad(by_rows)(x)), 1e-13);
  const Array v = random_array({3, 2}, -1, 1, 2, DType::Float64);
  expect_near(jvp(total, x, v).second, as_doubles(jvp(by_rows, x, v).second), 1e-13);
  expect_near(grad([&](const Array& a) { return sum(grad(total)(a) * v); })(x),
              as_doubles(jvp(grad(by_rows), x, v).second), 1e-13);
}

TEST(Vmap, UsesValuesOfTheEnclosingTrace) {
  const auto f = [](const Array& scale) {
    return sum(vmap([&](const Array& x) { return x * scale; })(doubles({1, 2, 3})));
  };
  expect_near(grad(f)(HostTensor::scalar(4.0)), {6});
}

TEST(Vmap, OfKeysDrawsEachItsOwn) {
  const Array keys = random::split_data(random::key(7), 3);
  const auto draw = [](const Array& key) { return random::normal(random::Key(key), {4}); };
  const Array all = vmap(draw)(keys);
  EXPECT_EQ(all.shape(), (Shape{3, 4}));
  for (int i = 0; i < 3; ++i) {
    expect_near(index_in_dim(all, i), as_doubles(draw(index_in_dim(keys, i))), 0);
  }
}

TEST(Vmap, OfAnEmptyBatchIsEmpty) {
  const Array none = zeros({0, 2});
  EXPECT_EQ(vmap([](const Array& x) { return sum(x); })(none).shape(), Shape{0});
}

TEST(Vmap, RefusesWhatDoesNotFit) {
  const auto add = [](const Array& x, const Array& y) { return x + y; };
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)vmap(add)(doubles({1, 2}), doubles({1}));
              }),
              AllOf(HasSubstr("[vmap] argument 1 has length 1 along axis 0"),
                    HasSubstr("argument 0 has 2"), HasSubstr("one length")));
  EXPECT_THAT(error_text<ValueError>([&] { (void)vmap(add)(doubles({1}), 2.0); }),
              AllOf(HasSubstr("argument 1 is float"), HasSubstr("has no axis 0 to map over"),
                    HasSubstr("std::nullopt")));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)vmap(add, {.in_axes = {std::nullopt, std::nullopt}})(1.0, 2.0);
              }),
              HasSubstr("no argument is mapped"));
  EXPECT_THAT(error_text<ValueError>([&] { (void)vmap(add, {.in_axes = {0}})(doubles({1}), 2.0); }),
              HasSubstr("in_axes has 1 entries for 2 arguments"));
  EXPECT_THAT(
      error_text<ValueError>([&] { (void)vmap(add, {.out_axes = 3})(doubles({1}), doubles({1})); }),
      AllOf(HasSubstr("out_axes is 3"), HasSubstr("float64[1]")));
}

}  // namespace
}  // namespace lockstep
