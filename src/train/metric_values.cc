#include "train/metric_values.h"

#include <cmath>

namespace lockstep {

Metrics read_metrics(const std::vector<std::string>& names, const std::vector<Array>& values) {
  Metrics metrics;
  for (std::size_t i = 0; i < values.size(); ++i) metrics[names[i]] = values[i].item<double>();
  return metrics;
}

std::string name_of_non_finite(const Metrics& metrics) {
  if (const auto loss = metrics.find("loss");
      loss != metrics.end() && !std::isfinite(loss->second)) {
    return "loss";
  }
  for (const auto& [name, value] : metrics) {
    if (!std::isfinite(value)) return name;
  }
  return {};
}

}  // namespace lockstep
