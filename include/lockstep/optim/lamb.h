#pragma once
/// LAMB: Adam with a trust ratio for each layer.
#include "lockstep/optim/add_decayed_weights.h"
#include "lockstep/optim/scale_by_adam.h"
#include "lockstep/optim/schedule.h"

namespace lockstep::optim {

struct LambOptions {
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-6;
  double eps_root = 0.0;
  ScalarOrSchedule weight_decay = 0.0;
  Mask mask = {};  ///< which parameters decay; all unless given
};

/// scale_by_adam, add_decayed_weights, scale_by_trust_ratio, then the learning rate. You et al.
/// 2020, arXiv:1904.00962.
[[nodiscard]] GradientTransformation lamb(const ScalarOrSchedule& learning_rate,
                                          const LambOptions& options = {});

}  // namespace lockstep::optim
