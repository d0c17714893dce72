// Reductions against JAX: axes, keepdims, types, ties, NaN, nothing at all.
#include "lockstep/trace/reductions.h"

#include <limits>
#include <optional>

#include "trace/expected_reductions.h"
#include "trace/op_cases.h"

namespace lockstep {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_ = std::numeric_limits<float>::quiet_NaN();

using Fold = std::function<Array(const Array&, const AxisSet&, bool)>;

template <class Op>
Fold fold_of(Op op) {
  return [op](const Array& x, const AxisSet& axis, bool keepdims) {
    return op(x, {.axis = axis, .keepdims = keepdims});
  };
}

const std::map<std::string, Fold>& folds() {
  static const std::map<std::string, Fold> made = {
      {"sum", fold_of(sum)},
      {"prod", fold_of(prod)},
      {"mean", fold_of(mean)},
      {"max", fold_of([](const Array& x, const ReduceOptions& o) { return max(x, o); })},
      {"min", fold_of([](const Array& x, const ReduceOptions& o) { return min(x, o); })},
      {"any", fold_of(any)},
      {"all", fold_of([](const Array& x, const ReduceOptions& o) { return lockstep::all(x, o); })},
      {"logsumexp", fold_of(logsumexp)},
      {"var", fold_of([](const Array& x, const VarOptions& o) { return var(x, o); })},
      {"std", fold_of([](const Array& x, const VarOptions& o) { return std_(x, o); })}};
  return made;
}

void add_folds(OpCases& cases) {
  const std::map<std::string, std::optional<AxisSet>> axes = {
      {"all", AxisSet()},
      {"first", 0},
      {"last", -1},
      {"two", AxisSet{0, 2}},
      {"none", std::vector<std::int64_t>()}};
  for (const auto& [name, fold] : folds()) {
    for (const auto& [text, axis] : axes) {
      if (text == "none" && (name == "var" || name == "std" || name == "logsumexp")) continue;
      for (const bool keepdims : {false, true}) {
        cases[name + "_" + text + (keepdims ? "_keepdims" : "")] =
            of_one([fold = fold, axis = *axis,
                    keepdims](const Array& x) { return fold(x, axis, keepdims); },
                   random_array({2, 3, 2}));
      }
    }
  }
  for (const char* name : {"sum", "prod", "mean", "max", "min", "any", "all"}) {
    const std::string text = name;
    const auto of_all = [fold = folds().at(name)](const Array& x) { return fold(x, {}, false); };
    cases[text + "_int32"] = of_one(of_all, ints({1, -2, 3}));
    cases[text + "_uint8"] = of_one(of_all, vector_of<std::uint8_t>({200, 100, 3}));
    cases[text + "_bool"] = of_one(of_all, vector_of<bool>({true, false, true}));
    cases[text + "_bfloat16"] = of_one(of_all, random_array({300}, 0.5, 1.5, 1, bfloat16));
  }
  for (const char* name : {"sum", "prod", "mean", "any", "all", "logsumexp"}) {
    cases[std::string(name) + "_empty"] =
        of_one([fold = folds().at(name)](const Array& x) { return fold(x, 0, false); },
               HostTensor::zeros(float32, {0, 2}));
  }
}

void add_corners(OpCases& cases) {
  const auto one = [&cases](const char* name, std::function<Array(const Array&)> op, Array x) {
    cases[name] = of_one(std::move(op), std::move(x));
  };
  const auto lse = [](const Array& x) { return logsumexp(x); };
  one(
      "sum_dtype", [](const Array& x) { return sum(x, {.dtype = float32}); }, ints({1, 2, 3}));
  one(
      "prod_zeros", [](const Array& x) { return prod(x, {.axis = 1}); },
      array_of<float>({0, 2, 3, 0, 0, 4}, {2, 3}));
  one(
      "max_ties", [](const Array& x) { return max(x, {.axis = 1}); },
      array_of<float>({3, 1, 3, 2, 2, 2}, {2, 3}));
  one(
      "max_nan", [](const Array& x) { return max(x); }, floats({1, nan_, 2}));
  one(
      "var_ddof", [](const Array& x) { return var(x, {.axis = 0, .ddof = 1}); },
      random_array({4, 2}));
  one(
      "std_constant", [](const Array& x) { return std_(x); }, floats({2, 2, 2}));
  one("logsumexp_infinite", lse, floats({-inf, 0, -inf}));
  one("logsumexp_all_infinite", lse, floats({-inf, -inf}));
  one("logsumexp_large", lse, floats({1000, 1000.5f}));
  for (const std::int64_t axis : {0, 1, -1}) {
    cases["cumsum_" + std::to_string(axis)] =
        of_one([axis](const Array& x) { return cumsum(x, axis); }, random_array({2, 5}));
  }
  one(
      "cumsum_bool", [](const Array& x) { return cumsum(x, 0); },
      vector_of<bool>({true, true, false}));
}

void add_indices_and_softmax(OpCases& cases) {
  using Arg = Array (*)(const Array&, const ArgReduceOptions&);
  const std::pair<std::string, Arg> extremes[] = {{"argmax", argmax}, {"argmin", argmin}};
  for (const auto& [name, arg] : extremes) {
    const auto with = [arg = arg](ArgReduceOptions options) {
      return [arg, options](const Array& x) { return arg(x, options); };
    };
    cases[name] = of_one(with({}), random_array({2, 5}));
    cases[name + "_axis"] = of_one(with({.axis = -1}), random_array({2, 5}));
    cases[name + "_keepdims"] = of_one(with({.axis = 0, .keepdims = true}), random_array({2, 5}));
    cases[name + "_ties"] = of_one(with({}), floats({1, 3, 3, 1}));
    cases[name + "_nan"] = of_one(with({}), floats({1, nan_, 3, nan_}));
    cases[name + "_int8"] = of_one(with({}), vector_of<std::int8_t>({3, -128, 127, 127}));
  }
  using Soft = Array (*)(const Array&, const AxisSet&);
  const std::pair<std::string, Soft> softs[] = {{"softmax", softmax}, {"log_softmax", log_softmax}};
  for (const auto& [name, soft] : softs) {
    const auto along = [soft = soft](AxisSet axis) {
      return [soft, axis](const Array& x) { return soft(x, axis); };
    };
    cases[name] = of_one(along(-1), random_array({2, 4}));
    cases[name + "_axes"] = of_one(along({0, 1}), random_array({2, 4}));
    cases[name + "_large"] = of_one(along(-1), floats({1000, 1001, -1000}));
  }
}

TEST(Reductions, EqualJax) {
  OpCases cases;
  add_folds(cases);
  add_corners(cases);
  add_indices_and_softmax(cases);
  expect_cases(cases, expected_reductions);
}

// A run that diverges shows as NaN: no minimum or maximum may drop one, wherever it stands.
TEST(Reductions, ExtremesKeepNan) {
  for (std::size_t place = 0; place < 40; ++place) {
    std::vector<float> values(40, 1.0f);
    values[place] = nan_;
    const Array x = array_of(values, {5, 8});
    EXPECT_TRUE(std::isnan(max(x).item<float>())) << place;
    EXPECT_TRUE(std::isnan(min(x).item<float>())) << place;
    EXPECT_EQ(argmax(x).item<std::int64_t>(), static_cast<std::int64_t>(place));
    std::vector<double> columns(8, 1.0);
    columns[place % 8] = nan_;
    expect_near(max(x, {.axis = 0}), columns);
  }
}

TEST(Reductions, SixteenBitFloatsAreSummedInFloat32) {
  const Array ones_ = full({4096}, 1.0, bfloat16);
  EXPECT_EQ(sum(ones_).item<float>(), 4096);
  EXPECT_EQ(sum(ones_).dtype(), DType::BFloat16);
}

TEST(Reductions, AxesAreChecked) {
  const Array x = random_array({2, 3});
  const auto with = [&](const AxisSet& axis) { (void)sum(x, {.axis = axis}); };
  expect_value_error([&] { with(2); }, {"[sum]", "axis 2", "2"});
  expect_value_error([&] { with(-3); }, {"[sum]", "axis -3"});
  expect_value_error([&] { with({0, -2}); }, {"[sum]", "axis 0", "twice"});
  expect_value_error([&] { (void)cumsum(x, 5); }, {"[cumsum]", "axis 5"});
  expect_value_error([&] { (void)argmax(x, {.axis = 3}); }, {"[argmax]", "axis 3"});
  expect_value_error([&] { (void)softmax(x, 4); }, {"[softmax]", "axis 4"});
}

TEST(Reductions, TheExtremeOfNothingIsAnError) {
  const Array empty = HostTensor::zeros(float32, {0, 3});
  expect_value_error([&] { (void)max(empty, {.axis = 0}); },
                     {"[reduce_max]", "float32[0,3]", "length 0"});
  expect_value_error([&] { (void)min(empty); }, {"[reduce_min]", "float32[0,3]"});
  expect_value_error([&] { (void)argmax(empty, {.axis = 0}); },
                     {"[argmax]", "float32[0,3]", "length 0"});
  EXPECT_EQ(max(empty, {.axis = 1}).shape(), Shape{0});
}

}  // namespace
}  // namespace lockstep
