#pragma once
/// Adam and NAdam.
#include "lockstep/optim/scale_by_adam.h"
#include "lockstep/optim/schedule.h"

namespace lockstep::optim {

/// The options of scale_by_adam.
using AdamOptions = ScaleByAdamOptions;

/// scale_by_adam, then the learning rate: `adam(1e-3)`, `adam(schedule, {.b1 = 0.95})`.
[[nodiscard]] GradientTransformation adam(const ScalarOrSchedule& learning_rate,
                                          const AdamOptions& options = {});

/// adam with Nesterov momentum.
[[nodiscard]] GradientTransformation nadam(const ScalarOrSchedule& learning_rate,
                                           AdamOptions options = {});

}  // namespace lockstep::optim
