#pragma once
/// Adam with decoupled weight decay.
#include <optional>

#include "lockstep/optim/add_decayed_weights.h"
#include "lockstep/optim/scale_by_adam.h"
#include "lockstep/optim/schedule.h"

namespace lockstep::optim {

struct AdamWOptions {
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  ScalarOrSchedule weight_decay = 1e-4;
  Mask mask = {};  ///< which parameters decay; all unless given
  bool nesterov = false;
};

/// scale_by_adam, then add_decayed_weights, then the learning rate. Loshchilov and Hutter 2019,
/// arXiv:1711.05101.
[[nodiscard]] GradientTransformation adamw(const ScalarOrSchedule& learning_rate,
                                           const AdamWOptions& options = {});

/// adamw with Nesterov momentum.
[[nodiscard]] GradientTransformation nadamw(const ScalarOrSchedule& learning_rate,
                                            AdamWOptions options = {});

}  // namespace lockstep::optim
