#pragma once
/// RMSProp.
#include <optional>

#include "lockstep/optim/scale_by_rms.h"
#include "lockstep/optim/schedule.h"

namespace lockstep::optim {

struct RmsPropOptions {
  double decay = 0.9;
  double eps = 1e-8;
  double initial_scale = 0.0;
  bool eps_in_sqrt = true;
  bool centered = false;                ///< by the standard deviation (scale_by_stddev)
  std::optional<double> momentum = {};  ///< a trace after the learning rate
  bool nesterov = false;
  bool bias_correction = false;
};

/// scale_by_rms, then the learning rate, then momentum.
[[nodiscard]] GradientTransformation rmsprop(const ScalarOrSchedule& learning_rate,
                                             const RmsPropOptions& options = {});

}  // namespace lockstep::optim
