#pragma once
/// Adam's rescaling by estimates of the first two moments.
#include <optional>

#include "lockstep/array/dtype.h"
#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

struct ScaleByAdamOptions {
  double b1 = 0.9;        ///< decay of the first moment
  double b2 = 0.999;      ///< decay of the second
  double eps = 1e-8;      ///< added to the root
  double eps_root = 0.0;  ///< added under the root: needed to differentiate through an update
  std::optional<DType> mu_dtype = {};  ///< type mu is kept in; the parameters' unless given
  bool nesterov = false;               ///< Nesterov's momentum (Dozat 2016)
};

/// With k = count + 1, mu' = b1 mu + (1 - b1) g, nu' = b2 nu + (1 - b2) g^2: gives
/// (mu' / (1 - b1^k)) / (sqrt(nu' / (1 - b2^k) + eps_root) + eps). State: {count, mu, nu}, count an
/// int32 scalar. Kingma and Ba 2015, arXiv:1412.6980.
[[nodiscard]] GradientTransformation scale_by_adam(const ScaleByAdamOptions& options = {});

}  // namespace lockstep::optim
