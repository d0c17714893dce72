#pragma once
/// Updates times a number: constant, scheduled, or the learning rate.
#include "lockstep/optim/gradient_transformation.h"
#include "lockstep/optim/schedule.h"

namespace lockstep::optim {

/// step_size * updates.
[[nodiscard]] GradientTransformation scale(double step_size);

/// schedule(count) * updates, the factor in each leaf's type. State: {count}.
[[nodiscard]] GradientTransformation scale_by_schedule(Schedule schedule);

/// -learning_rate * updates (+ without `flip_sign`): the last link of an optimiser's chain. State:
/// {count} for a schedule, else None.
struct ScaleByLearningRateOptions {
  bool flip_sign = true;
};
[[nodiscard]] GradientTransformation scale_by_learning_rate(
    const ScalarOrSchedule& learning_rate, const ScaleByLearningRateOptions& options = {});

}  // namespace lockstep::optim
