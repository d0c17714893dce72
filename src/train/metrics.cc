#include "lockstep/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/base/number_text.h"

namespace lockstep {

void WeightedMean::add(double value, double weight) {
  if (!std::isfinite(weight) || weight < 0) {
    throw_value_error("WeightedMean", "the weight is " + number_text(weight) +
                                          "; expected a finite number that is not negative");
  }
  if (weight == 0) return;
  const double term = value * weight;
  const double sum = sum_ + term;
  if (std::isfinite(sum)) {
    compensation_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
  }
  sum_ = sum;
  total_weight_ += weight;
}

double WeightedMean::mean() const {
  if (total_weight_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return (sum_ + compensation_) / total_weight_;
}

void MetricAverager::add(const Metrics& metrics, double num_examples) {
  for (const auto& [name, value] : metrics) means_[name].add(value, num_examples);
}

Metrics MetricAverager::means() const {
  Metrics result;
  for (const auto& [name, mean] : means_) result.emplace(name, mean.mean());
  return result;
}

void StepRate::record(std::int64_t step, double seconds) {
  const Mark mark{step, seconds};
  if (!last_) {
    last_ = mark;
    return;
  }
  window_.step += step - last_->step;
  window_.seconds += seconds - last_->seconds;
  last_ = mark;
  if (window_.seconds < window_seconds_ || window_.seconds <= 0) return;
  windows_.push_back(static_cast<double>(window_.step) / window_.seconds);
  window_ = {};
}

std::optional<double> StepRate::median() const {
  if (windows_.empty()) {
    if (window_.seconds <= 0) return std::nullopt;
    return static_cast<double>(window_.step) / window_.seconds;
  }
  std::vector<double> rates(windows_.begin() + (windows_.size() > 1 ? 1 : 0), windows_.end());
  std::sort(rates.begin(), rates.end());
  const std::size_t middle = rates.size() / 2;
  return rates.size() % 2 == 1 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2;
}

}  // namespace lockstep
