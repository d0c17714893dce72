#pragma once
/// Lion.
#include <optional>

#include "lockstep/optim/add_decayed_weights.h"
#include "lockstep/optim/scale_by_lion.h"
#include "lockstep/optim/schedule.h"

namespace lockstep::optim {

struct LionOptions {
  double b1 = 0.9;
  double b2 = 0.99;
  std::optional<DType> mu_dtype = {};
  ScalarOrSchedule weight_decay = 1e-3;
  Mask mask = {};  ///< which parameters decay; all unless given
};

/// scale_by_lion, then add_decayed_weights, then the learning rate.
[[nodiscard]] GradientTransformation lion(const ScalarOrSchedule& learning_rate,
                                          const LionOptions& options = {});

}  // namespace lockstep::optim
