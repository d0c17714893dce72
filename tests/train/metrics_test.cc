#include "lockstep/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

TEST(WeightedMean, WeighsAndCompensates) {
  WeightedMean mean;
  EXPECT_TRUE(std::isnan(mean.mean()));
  mean.add(10, 2);
  mean.add(9, 1);
  mean.add(1e300, 0);
  EXPECT_NEAR(mean.mean(), 29.0 / 3.0, 1e-15);
  EXPECT_THROW(mean.add(1, -1), ValueError);
  WeightedMean cancels;
  for (const double value : {1e16, 1.0, -1e16}) cancels.add(value, 1);
  EXPECT_DOUBLE_EQ(cancels.mean(), 1.0 / 3.0);
  mean.add(std::nan(""), 1);
  EXPECT_TRUE(std::isnan(mean.mean()));
}

TEST(MetricAverager, EachMetricHasItsOwnWeight) {
  MetricAverager averager;
  EXPECT_TRUE(averager.empty());
  averager.add({{"a", 1}, {"b", 5}}, 1);
  averager.add({{"a", 2}}, 3);
  EXPECT_EQ(averager.means(), (Metrics{{"a", 1.75}, {"b", 5}}));
}

TEST(StepRate, IsTheMedianOfWindowsAfterTheFirst) {
  StepRate rate(1.0);
  EXPECT_FALSE(rate.median());
  double time = 0;
  rate.record(0, time);
  EXPECT_FALSE(rate.median());
  const double speeds[] = {1, 10, 20, 30};
  std::int64_t step = 0;
  for (const double speed : speeds) {
    time += 1;
    step += static_cast<std::int64_t>(speed);
    rate.record(step, time);
  }
  EXPECT_EQ(rate.windows().size(), 4U);
  EXPECT_EQ(*rate.median(), 20);
}

TEST(StepRate, PausesDoNotCountAndWindowsGoOnAfterThem) {
  StepRate rate(1.0);
  // Bursts shorter than a window, with pauses between them.
  double time = 0;
  std::int64_t step = 0;
  for (int burst = 0; burst < 4; ++burst) {
    rate.record(step, time);
    for (int i = 0; i < 2; ++i) rate.record(++step, time += 0.25);
    rate.pause();
    time += 100;
  }
  EXPECT_EQ(rate.windows().size(), 2U);
  EXPECT_DOUBLE_EQ(*rate.median(), 4);
}

TEST(StepRate, AShortRunIsOneWindow) {
  StepRate rate(10.0);
  rate.record(1, 5.0);
  rate.record(5, 5.5);
  EXPECT_DOUBLE_EQ(*rate.median(), 8);
  rate.pause();
  EXPECT_DOUBLE_EQ(*rate.median(), 8);
}

}  // namespace
}  // namespace lockstep
