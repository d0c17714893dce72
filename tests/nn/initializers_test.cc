#include "lockstep/nn/initializers.h"

#include <map>

#include "nn_test_support.h"

namespace lockstep::nn::initializers {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

const std::map<std::string, Initializer>& all_initializers() {
  static const std::map<std::string, Initializer> all = {
      {"uniform", uniform(0.5)},
      {"normal", normal(0.2)},
      {"truncated_normal", truncated_normal({.stddev = 0.3, .lower = -1.5, .upper = 2.5})},
      {"lecun_normal", lecun_normal()},
      {"lecun_uniform", lecun_uniform()},
      {"glorot_normal", glorot_normal()},
      {"glorot_uniform", glorot_uniform()},
      {"he_normal", he_normal()},
      {"he_uniform", he_uniform()},
      {"fan_out_normal",
       variance_scaling(
           {.scale = 2.0, .mode = FanMode::FanOut, .distribution = Distribution::Normal})},
      {"fan_geo_avg_uniform",
       variance_scaling(
           {.scale = 0.5, .mode = FanMode::FanGeoAvg, .distribution = Distribution::Uniform})},
      {"own_axes",
       variance_scaling({.axes = {.in_axis = {0}, .out_axis = {2}, .batch_axis = {1}}})},
  };
  return all;
}

class Initializers : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Initializers, ::testing::ValuesIn(names_of(expected_initializers)),
                         parameter_name);

TEST_P(Initializers, AreJaxsBitForBitUpToFloat32) {
  for (const ExpectedTensor& expected : expected_initializers.at(GetParam())) {
    const Array found = all_initializers().at(GetParam())(random::key(7), expected.shape,
                                                          dtype_from_string(expected.dtype));
    // The compiler folds erf of the bounds, and rounds double precision, otherwise in another
    // program.
    if (expected.dtype == "float64") {
      expect_near(found, expected, 1e-14);
    } else if (GetParam() == "truncated_normal" && expected.dtype == "float32") {
      expect_near(found, expected, 5e-7);
    } else {
      expect_relative(found, expected, 0);
    }
  }
}

TEST(Initializers, EveryOneHasItsNumbers) {
  EXPECT_EQ(names_of(all_initializers()), names_of(expected_initializers));
}

TEST(Initializers, ConstantsAreEverywhere) {
  const random::Key key = random::key(0);
  EXPECT_THAT(zeros()(key, {2, 3}, float32).to_vector<float>(), Each(0.0F));
  EXPECT_THAT(ones()(key, {2, 3}, float64).to_vector<double>(), Each(1.0));
  const Array third = constant(1.0 / 3.0)(key, {4}, float64);
  EXPECT_THAT(third.to_vector<double>(), Each(1.0 / 3.0));
  EXPECT_EQ(constant(2)(key, {}, bfloat16).dtype(), bfloat16);
}

TEST(Initializers, VarianceIsWhatItSays) {
  // 400 times 300: the sample variance is within a few parts in a thousand.
  struct Wanted {
    Initializer initializer;
    double variance;
  };
  const Wanted wanted[] = {{lecun_normal(), 1.0 / 400},  {he_uniform(), 2.0 / 400},
                           {glorot_normal(), 2.0 / 700}, {glorot_uniform(), 2.0 / 700},
                           {normal(0.5), 0.25},          {uniform(1.0), 1.0 / 12}};
  for (const auto& [initializer, variance] : wanted) {
    const std::vector<double> values =
        doubles_of(initializer(random::key(11), {400, 300}, float32));
    double sum = 0;
    double squares = 0;
    for (const double value : values) {
      sum += value;
      squares += value * value;
    }
    const double mean = sum / static_cast<double>(values.size());
    EXPECT_NEAR(squares / static_cast<double>(values.size()) - mean * mean, variance,
                0.02 * variance);
  }
}

TEST(Initializers, ShapesWithoutInputsAndOutputsAreRefused) {
  EXPECT_THAT(error_text([] { (void)lecun_normal()(random::key(0), {3}, float32); }),
              AllOf(HasSubstr("[variance_scaling]"), HasSubstr("(3,)"),
                    HasSubstr("at least two axes"), HasSubstr("in_axis")));
  const FanAxes beyond{.in_axis = {5}, .out_axis = {1}};
  EXPECT_THAT(error_text([&] {
                (void)lecun_normal(beyond)(random::key(0), {3, 4}, float32);
              }),
              AllOf(HasSubstr("[variance_scaling]"), HasSubstr("5")));
}

}  // namespace
}  // namespace lockstep::nn::initializers
