#pragma once
/// Means over an epoch and rates over windows.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/train/logger.h"

namespace lockstep {

/// sum(weight * value) / sum(weight), so that a short last batch counts by its examples.
class WeightedMean {
 public:
  /// ValueError for a weight that is negative or not finite. A weight of zero adds nothing.
  void add(double value, double weight);
  /// NaN before the first positive weight; a NaN that was added stays.
  [[nodiscard]] double mean() const;
  [[nodiscard]] double total_weight() const { return total_weight_; }

 private:
  double sum_ = 0;
  double compensation_ = 0;  // Neumaier's: what adding to sum_ rounded away
  double total_weight_ = 0;
};

/// A weighted mean for every metric of an epoch.
class MetricAverager {
 public:
  /// The metrics of one batch of `num_examples` examples.
  void add(const Metrics& metrics, double num_examples);
  /// The means, each over the batches that had the metric.
  [[nodiscard]] Metrics means() const;
  [[nodiscard]] bool empty() const { return means_.empty(); }
  void reset() { means_.clear(); }

 private:
  std::map<std::string, WeightedMean> means_;
};

/// Steps per second over windows of time; the median of the windows is little disturbed by
/// compilation, checkpoints or a busy machine.
class StepRate {
 public:
  /// `window_seconds`: the least length of a window.
  explicit StepRate(double window_seconds = 1.0) : window_seconds_(window_seconds) {}

  /// `step` steps were done at `seconds`, a monotonic time. Steps and times do not decrease.
  void record(std::int64_t step, double seconds);
  /// What passes between the record before and the record after this call does not count.
  void pause() { last_.reset(); }

  /// The median of steps per second over the windows after the first; over the first where there
  /// is no other; else over what was recorded. Nothing before two records at different times.
  [[nodiscard]] std::optional<double> median() const;
  [[nodiscard]] const std::vector<double>& windows() const { return windows_; }

 private:
  struct Mark {
    std::int64_t step = 0;
    double seconds = 0;
  };
  double window_seconds_;
  std::optional<Mark> last_;
  Mark window_;  // steps and time of the unfinished window
  std::vector<double> windows_;
};

}  // namespace lockstep
