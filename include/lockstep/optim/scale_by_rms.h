#pragma once
/// RMSProp's rescaling by a running mean of squares.
#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

struct ScaleByRmsOptions {
  double decay = 0.9;
  double eps = 1e-8;
  double initial_scale = 0.0;    ///< what nu begins with
  bool eps_in_sqrt = true;       ///< 1 / sqrt(nu + eps), else 1 / (sqrt(nu) + eps)
  bool bias_correction = false;  ///< nu / (1 - decay^(count + 1)) in place of nu
};

/// nu' = decay nu + (1 - decay) g^2; gives g / sqrt(nu' + eps). State: {nu}, with bias correction
/// {count, nu}.
[[nodiscard]] GradientTransformation scale_by_rms(const ScaleByRmsOptions& options = {});

/// The same by the running standard deviation, nu' - mu'^2 in place of nu'. State: {mu, nu}, with
/// bias correction {count, mu, nu}.
[[nodiscard]] GradientTransformation scale_by_stddev(const ScaleByRmsOptions& options = {});

}  // namespace lockstep::optim
