// scan, while_loop, fori_loop, cond, switch_: values, both modes, vmap, nesting, eager and
// compiled, and misuse.
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
using Pair = std::pair<Array, Array>;

Array scalar(double value) {
  return HostTensor::scalar(value);
}

// c = w * c * cos(x) + x; y = c * c: as a scan and written out.
Array by_scan(const Array& w, const Array& c, const Array& xs, const ScanOptions& options = {}) {
  const auto [last, ys] = scan(
      [&](const Array& carry, const Array& x) {
        const Array next = w * carry * cos(x) + x;
        return Pair(next, next * next);
      },
      c, xs, options);
  return sum(ys) + last;
}
Array by_hand(const Array& w, const Array& c, const Array& xs, bool reverse = false) {
  Array carry = c;
  Array total = zeros({}, DType::Float64);
  const std::int64_t length = xs.shape()[0];
  for (std::int64_t i = 0; i < length; ++i) {
    const Array x = index_in_dim(xs, reverse ? length - 1 - i : i);
    carry = w * carry * cos(x) + x;
    total = total + carry * carry;
  }
  return total + carry;
}

const Array xs = random_array({5}, -1, 1, 3, DType::Float64);

TEST(Scan, CarriesAndStacks) {
  const auto [last, ys] =
      scan([](const Array& carry, const Array& x) { return Pair(carry + x, carry * x); }, scalar(1),
           doubles({1, 2, 3}));
  expect_near(last, {7});
  expect_near(ys, {1, 4, 12});
  EXPECT_FALSE(ys.is_traced());
}

TEST(Scan, ReverseStacksInThePlacesOfTheXs) {
  const auto body = [](const Array& carry, const Array& x) { return Pair(carry + x, carry); };
  const auto [last, ys] = scan(body, scalar(0), doubles({1, 2, 4}), {.reverse = true});
  expect_near(last, {7});
  expect_near(ys, {6, 4, 0});
}

TEST(Scan, OfAGivenLengthNeedsNoXs) {
  const auto [last, ys] = scan(
      [](const std::vector<Array>& c, const Tree&) {
        return std::pair(std::vector<Array>{c[1], c[0] + c[1]}, c[0]);
      },
      std::vector<Array>{ints({0}), ints({1})}, Tree(), {.length = 6});
  expect_near(ys, {0, 1, 1, 2, 3, 5});
  expect_near(last[0], {8});
}

TEST(Scan, OfLengthZeroGivesTheInitialCarry) {
  const auto [last, ys] =
      scan([](const Array& carry, const Array& x) { return Pair(carry + x, x); }, scalar(3),
           zeros({0}, DType::Float64));
  expect_near(last, {3});
  EXPECT_EQ(ys.shape(), Shape{0});
}

TEST(Scan, UnrollChangesNothing) {
  for (const std::int64_t unroll : {2, 3, 5, 9}) {
    expect_near(by_scan(scalar(0.7), scalar(0.3), xs, {.unroll = unroll}),
                as_doubles(by_scan(scalar(0.7), scalar(0.3), xs)), 0);
  }
}

TEST(Scan, DifferentiatesInBothModesByEverythingItUses) {
  const Array w = scalar(0.7);
  const Array c = scalar(0.3);
  for (const bool reverse : {false, true}) {
    const auto looped = [&](const Array& a, const Array& b, const Array& x) {
      return by_scan(a, b, x, {.reverse = reverse});
    };
    const auto written = [&](const Array& a, const Array& b, const Array& x) {
      return by_hand(a, b, x, reverse);
    };
    expect_near(looped(w, c, xs), as_doubles(written(w, c, xs)), 1e-14);
    const auto [by_w, by_c, by_x] = grad<0, 1, 2>(looped)(w, c, xs);
    const auto [want_w, want_c, want_x] = grad<0, 1, 2>(written)(w, c, xs);
    expect_near(by_w, as_doubles(want_w), 1e-13);
    expect_near(by_c, as_doubles(want_c), 1e-13);
    expect_near(by_x, as_doubles(want_x), 1e-13);
    const auto compiled = jit([&](const Array& a, const Array& b, const Array& x) {
      return grad<0, 1, 2>(looped)(a, b, x);
    });
    expect_near(std::get<2>(compiled(w, c, xs)), as_doubles(want_x), 1e-13);
    const auto along = std::tuple(scalar(0.5), scalar(-1), xs * 2.0);
    expect_near(jvp(looped, std::tuple(w, c, xs), along).second,
                as_doubles(jvp(written, std::tuple(w, c, xs), along).second), 1e-13);
  }
}

TEST(Scan, HasSecondDerivativesInEveryOrder) {
  const Array w = scalar(0.7);
  const auto looped = [&](const Array& x) { return by_scan(w, scalar(0.3), x); };
  const auto written = [&](const Array& x) { return by_hand(w, scalar(0.3), x); };
  const Array want = hessian(written)(xs);
  expect_near(hessian(looped)(xs), as_doubles(want), 1e-12);
  expect_near(jacrev(jacrev(looped))(xs), as_doubles(want), 1e-12);
  expect_near(jacrev(jacfwd(looped))(xs), as_doubles(want), 1e-12);
  expect_near(jit(hessian(looped))(xs), as_doubles(want), 1e-12);
}

TEST(Scan, Vmaps) {
  const Array batch = random_array({3, 5}, -1, 1, 4, DType::Float64);
  const auto f = [](const Array& x) { return by_scan(scalar(0.7), scalar(0.3), x); };
  const Array all = vmap(f)(batch);
  const Array gradients = vmap(grad(f))(batch);
  for (int i = 0; i < 3; ++i) {
    const Array x = index_in_dim(batch, i);
    expect_near(index_in_dim(all, i), as_doubles(f(x)), 1e-14);
    expect_near(index_in_dim(gradients, i), as_doubles(grad(f)(x)), 1e-13);
  }
  // Only the weight is batched: the carry becomes so in the loop.
  const auto by_weight = [](const Array& w) { return by_scan(w, scalar(0.3), xs); };
  expect_near(vmap(by_weight)(doubles({0.5, 0.7})),
              {as_doubles(by_weight(scalar(0.5)))[0], as_doubles(by_weight(scalar(0.7)))[0]},
              1e-14);
}

TEST(Scan, AWeakInitialCarryTakesTheBodysType) {
  const auto [last, ys] =
      scan([](const Array& carry, const Array& x) { return Pair(carry + x, carry); }, 0.0,
           doubles({1, 2}));
  EXPECT_EQ(last.dtype(), DType::Float64);
  expect_near(last, {3});
}

TEST(Scan, RefusesWhatDoesNotFit) {
  const auto grows = [](const Array& c, const Array& x) { return Pair(concatenate({c, c}), x); };
  EXPECT_THAT(error_text<ValueError>([&] { (void)scan(grows, doubles({1}), doubles({1})); }),
              AllOf(HasSubstr("[scan] the carry goes in as float64[1] and comes out as float64[2]"),
                    HasSubstr("must keep its shape and type")));
  const auto keeps = [](const Array& c, const Array& x) { return Pair(c, x); };
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)scan(keeps, doubles({1}), doubles({1, 2}), {.length = 3});
              }),
              AllOf(HasSubstr("xs has length 2"), HasSubstr("length is 3")));
  EXPECT_THAT(error_text<ValueError>([&] { (void)scan(keeps, doubles({1}), scalar(1)); }),
              HasSubstr("axis 0, which it does not have"));
  const auto no_xs = [](const Array& c, const Tree&) { return std::pair(c, Tree()); };
  EXPECT_THAT(error_text<ValueError>([&] { (void)scan(no_xs, doubles({1}), Tree()); }),
              HasSubstr("ScanOptions::length"));
}

TEST(Cond, RunsOneBranch) {
  const auto f = [](const Array& p, const Array& x) {
    return cond(
        p, [](const Array& a) { return sin(a); }, [](const Array& a) { return a * a; }, x);
  };
  const Array yes = HostTensor::scalar(true);
  const Array no = HostTensor::scalar(false);
  expect_near(f(yes, scalar(2)), {std::sin(2.0)});
  expect_near(f(no, scalar(2)), {4});
  expect_near(jit(f)(no, scalar(3)), {9});
  expect_near(grad<1>(f)(yes, scalar(2)), {std::cos(2.0)});
  expect_near(grad<1>(f)(no, scalar(2)), {4});
  expect_near(jvp([&](const Array& x) { return f(no, x); }, scalar(2), scalar(3)).second, {12});
  expect_near(grad([&](const Array& x) { return grad<1>(f)(yes, x); })(scalar(2)),
              {-std::sin(2.0)});
  expect_near(vmap(f)(array_of<bool>({true, false}, {2}), doubles({2, 2})), {std::sin(2.0), 4});
  expect_near(vmap(f, {.in_axes = {std::nullopt, 0}})(no, doubles({2, 3})), {4, 9});
}

TEST(Cond, GradientsFlowToWhatBranchesUse) {
  const auto f = [](const Array& p, const Array& a, const Array& b) {
    return cond(
        p, [&](const Array& x) { return a * x; }, [&](const Array& x) { return b + x; }, scalar(5));
  };
  const auto [by_a, by_b] = grad<1, 2>(f)(HostTensor::scalar(true), scalar(2), scalar(3));
  expect_near(by_a, {5});
  expect_near(by_b, {0});
}

TEST(Cond, RefusesBranchesThatDiffer) {
  const Array p = HostTensor::scalar(true);
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)cond(
                    p, [](const Array& x) { return x; },
                    [](const Array& x) {
                      return stack({x, x});
                    },
                    scalar(1));
              }),
              AllOf(HasSubstr("[cond] branch"), HasSubstr("float64[2]"), HasSubstr("float64[]"),
                    HasSubstr("same shapes and types")));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)cond(
                    array_of<bool>({true}, {1}), [](const Array& x) { return x; },
                    [](const Array& x) { return x; }, scalar(1));
              }),
              AllOf(HasSubstr("the predicate is bool[1]"), HasSubstr("where")));
}

TEST(Switch, ClampsItsIndex) {
  const auto f = [](const Array& i, const Array& x) {
    return switch_(i,
                   {[](const Array& a) { return sin(a); }, [](const Array& a) { return a + 1.0; },
                    [](const Array& a) { return a * a; }},
                   x);
  };
  expect_near(f(HostTensor::scalar(-4), scalar(2)), {std::sin(2.0)});
  expect_near(f(HostTensor::scalar(1), scalar(2)), {3});
  expect_near(f(HostTensor::scalar(9), scalar(3)), {9});
  expect_near(vmap(f)(ints({0, 1, 2}), doubles({2, 2, 3})), {std::sin(2.0), 3, 9});
  expect_near(vmap(grad<1>(f))(ints({0, 1, 2}), doubles({2, 2, 3})), {std::cos(2.0), 1, 6});
}

// Doubles x until it reaches the limit; counts the steps.
std::vector<Array> doubled(const Array& x, const Array& limit) {
  return while_loop([&](const std::vector<Array>& s) { return sum(s[0]) < limit; },
                    [](const std::vector<Array>& s) {
                      return std::vector<Array>{s[0] * 2.0, s[1] + 1};
                    },
                    std::vector<Array>{x, Array(HostTensor::scalar(0))});
}

TEST(WhileLoop, RunsAsLongAsItsConditionHolds) {
  const auto result = doubled(scalar(3), scalar(20));
  expect_near(result[0], {24});
  expect_near(result[1], {3});
  expect_near(jit(doubled)(scalar(3), scalar(2))[0], {3});
  const auto value = [](const Array& x) { return doubled(x, scalar(20))[0]; };
  expect_near(jvp(value, scalar(3), scalar(1)).second, {8});
}

TEST(WhileLoop, UnderVmapFinishedExamplesStay) {
  const auto all = vmap(doubled, {.in_axes = {0, std::nullopt}})(doubles({3, 30, 11}), scalar(20));
  expect_near(all[0], {24, 30, 22});
  expect_near(all[1], {3, 0, 1});
  // The condition alone is batched.
  expect_near(vmap(doubled, {.in_axes = {std::nullopt, 0}})(scalar(3), doubles({1, 5, 20}))[0],
              {3, 6, 24});
}

TEST(WhileLoop, HasNoReverseModeAndSaysWhatToUse) {
  const auto value = [](const Array& x) { return doubled(x, scalar(20))[0]; };
  EXPECT_THAT(error_text<ValueError>([&] { (void)grad(value)(scalar(3)); }),
              AllOf(HasSubstr("[while_loop] it has no derivative in reverse mode"),
                    HasSubstr("scan"), HasSubstr("fori_loop"), HasSubstr("jvp")));
}

TEST(WhileLoop, RefusesAConditionThatIsNoScalarBool) {
  EXPECT_THAT(error_text<ValueError>([] {
                (void)while_loop([](const Array& x) { return x; }, [](const Array& x) { return x; },
                                 scalar(1));
              }),
              AllOf(HasSubstr("the condition returned float64[]"), HasSubstr("scalar bool")));
}

TEST(ForiLoop, OfFixedBoundsIsDifferentiable) {
  const auto logistic = [](const Array& x) {
    return fori_loop(
        0, 4, [](const Array&, const Array& y) { return 3.5 * y * (1.0 - y); }, x);
  };
  const auto written = [](const Array& x) {
    Array y = x;
    for (int i = 0; i < 4; ++i) y = 3.5 * y * (1.0 - y);
    return y;
  };
  expect_near(logistic(scalar(0.3)), as_doubles(written(scalar(0.3))), 1e-14);
  expect_near(grad(logistic)(scalar(0.3)), as_doubles(grad(written)(scalar(0.3))), 1e-13);
  const auto indexed = [](const Array& i, const Array& y) { return y + astype(i, DType::Float64); };
  expect_near(fori_loop(2, 5, indexed, scalar(0)), {9});
  expect_near(fori_loop(5, 2, indexed, scalar(7)), {7});
}

TEST(ForiLoop, OfTracedBoundsIsAWhileLoop) {
  const auto f = [](const Array& x, const Array& n) {
    return fori_loop(
        0, n, [&](const Array&, const Array& y) { return sin(y) + 0.5 * x; }, x);
  };
  const auto compiled = jit(f);
  double want = 0.4;
  for (int i = 0; i < 3; ++i) want = std::sin(want) + 0.2;
  expect_near(compiled(scalar(0.4), HostTensor::scalar(3)), {want}, 1e-14);
  expect_near(vmap(f)(doubles({0.4, 0.4}), ints({3, 0})), {want, 0.4}, 1e-14);
}

TEST(ControlFlow, Nests) {
  // A scan whose body has a cond whose branches have a loop.
  const auto f = [](const Array& x) {
    const auto body = [&](const Array& c, const Array& v) {
      const Array next = cond(
          v > 0.0,
          [&](const Array& a) {
            return fori_loop(
                0, 2, [&](const Array&, const Array& y) { return y * x; }, a);
          },
          [](const Array& a) { return a + 1.0; }, c);
      return Pair(next, next);
    };
    const auto [last, ys] = scan(body, scalar(1), doubles({1, -1, 1}));
    return last + sum(ys);
  };
  // x^2, x^2 + 1, (x^2 + 1) x^2; twice the last one.
  const double x = 1.3;
  expect_near(f(scalar(x)), {2 * x * x + 1 + 2 * (std::pow(x, 4) + x * x)}, 1e-13);
  expect_near(grad(f)(scalar(x)), {4 * x + 2 * (4 * x * x * x + 2 * x)}, 1e-13);
  expect_near(jit(grad(f))(scalar(x)), {4 * x + 2 * (4 * x * x * x + 2 * x)}, 1e-13);
  expect_near(hessian(f)(scalar(x)), {4 + 2 * (12 * x * x + 2)}, 1e-12);
}

}  // namespace
}  // namespace lockstep
