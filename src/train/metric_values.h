#pragma once
#include <string>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/train/logger.h"

namespace lockstep {

// Metrics on devices as numbers by name; waits for them.
[[nodiscard]] Metrics read_metrics(const std::vector<std::string>& names,
                                   const std::vector<Array>& values);

// The name of a metric that is NaN or infinite, the loss first; "" where all are finite.
[[nodiscard]] std::string name_of_non_finite(const Metrics& metrics);

}  // namespace lockstep
