#pragma once
/// LAMB's and LARS's rescaling, layer by layer.
#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

struct ScaleByTrustRatioOptions {
  double min_norm = 0.0;  ///< norms below it count as it
  double trust_coefficient = 1.0;
  double eps = 0.0;
};

/// Each leaf u times trust_coefficient |p| / (|u| + eps), with p its parameter; times 1 where
/// either norm is 0. No state.
[[nodiscard]] GradientTransformation scale_by_trust_ratio(
    const ScaleByTrustRatioOptions& options = {});

}  // namespace lockstep::optim
