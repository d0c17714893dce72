#pragma once
/// Adagrad's rescaling by the sum of all squares so far.
#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

struct ScaleByRssOptions {
  double initial_accumulator_value = 0.1;
  double eps = 1e-7;
};

/// s' = s + g^2; gives g / sqrt(s' + eps), 0 where s' is 0. State: {sum_of_squares}.
[[nodiscard]] GradientTransformation scale_by_rss(const ScaleByRssOptions& options = {});

}  // namespace lockstep::optim
