#include "lockstep/optim/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "optim/expected_steps.h"

namespace lockstep::optim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::map<std::string, Schedule>& schedules() {
  static const std::map<std::string, Schedule> all = {
      {"constant", constant_schedule(0.3)},
      {"linear",
       linear_schedule(
           {.init_value = 0.5, .end_value = 0.1, .transition_steps = 10, .transition_begin = 3})},
      {"polynomial", polynomial_schedule({.init_value = 1.0,
                                          .end_value = 0.1,
                                          .power = 2.0,
                                          .transition_steps = 8,
                                          .transition_begin = 2})},
      {"piecewise_constant", piecewise_constant_schedule(1.0, {{3, 0.5}, {7, 0.1}})},
      {"exponential",
       exponential_decay({.init_value = 1.0, .transition_steps = 4, .decay_rate = 0.5})},
      {"exponential_staircase", exponential_decay({.init_value = 1.0,
                                                   .transition_steps = 4,
                                                   .decay_rate = 0.5,
                                                   .transition_begin = 2,
                                                   .staircase = true,
                                                   .end_value = 0.2})},
      {"cosine", cosine_decay_schedule(
                     {.init_value = 1.0, .decay_steps = 12, .alpha = 0.1, .exponent = 2.0})},
      {"warmup_cosine", warmup_cosine_decay_schedule({.init_value = 0.1,
                                                      .peak_value = 1.0,
                                                      .warmup_steps = 4,
                                                      .decay_steps = 14,
                                                      .end_value = 0.2})},
      {"warmup_exponential", warmup_exponential_decay_schedule({.init_value = 0.0,
                                                                .peak_value = 1.0,
                                                                .warmup_steps = 4,
                                                                .transition_steps = 3,
                                                                .decay_rate = 0.7})},
      {"join", join_schedules(
                   {constant_schedule(1.0),
                    linear_schedule({.init_value = 0.5, .end_value = 0.0, .transition_steps = 4})},
                   {5})},
  };
  return all;
}

class Schedules : public testing::TestWithParam<std::string> {};

TEST_P(Schedules, EqualOptax) {
  const Schedule& schedule = schedules().at(GetParam());
  const std::vector<double>& expected = expected_schedules.at(GetParam());
  const Array counts = arange(static_cast<std::int64_t>(expected.size()), int32);
  const Array values = schedule(counts);
  EXPECT_EQ(values.dtype(), float32);
  const std::vector<float> found = values.to_vector<float>();
  const std::vector<float> compiled =
      jit([&](const Array& count) { return schedule(count); })(counts).to_vector<float>();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double tolerance = 1e-6 * std::abs(expected[i]) + 1e-7;
    EXPECT_NEAR(found[i], expected[i], tolerance) << "step " << i;
    EXPECT_NEAR(compiled[i], expected[i], tolerance) << "compiled, step " << i;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& [name, numbers] : expected_schedules) result.push_back(name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, Schedules, testing::ValuesIn(names()),
                         [](const auto& param_info) { return param_info.param; });

TEST(Schedule, WithoutTransitionStepsIsConstant) {
  const Array count = HostTensor::scalar<std::int32_t>(7);
  EXPECT_FLOAT_EQ(linear_schedule({.init_value = 0.25, .end_value = 1.0})(count).item<float>(),
                  0.25f);
  EXPECT_FLOAT_EQ(exponential_decay({.init_value = 0.5, .decay_rate = 0.9})(count).item<float>(),
                  0.5f);
}

TEST(Schedule, RefusesWhatCannotBe) {
  EXPECT_THAT([] { (void)cosine_decay_schedule({.init_value = 1.0}); },
              ThrowsMessage<ValueError>(
                  AllOf(HasSubstr("[cosine_decay_schedule]"), HasSubstr("decay_steps is 0"))));
  EXPECT_THAT(
      [] {
        (void)warmup_cosine_decay_schedule(
            {.peak_value = 1.0, .warmup_steps = 10, .decay_steps = 10});
      },
      ThrowsMessage<ValueError>(
          AllOf(HasSubstr("[warmup_cosine_decay_schedule]"), HasSubstr("warmup_steps 10"))));
  EXPECT_THAT(
      [] {
        (void)piecewise_constant_schedule(1.0, {{4, -0.5}});
      },
      ThrowsMessage<ValueError>(AllOf(HasSubstr("step 4"), HasSubstr("-0.5"))));
  EXPECT_THAT([] { (void)join_schedules({constant_schedule(1.0)}, {3}); },
              ThrowsMessage<ValueError>(AllOf(HasSubstr("[join_schedules]"),
                                              HasSubstr("1 schedules have 0 boundaries"))));
}

}  // namespace
}  // namespace lockstep::optim
