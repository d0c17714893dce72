#pragma once
/// Lion's sign updates.
#include <optional>

#include "lockstep/array/dtype.h"
#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

struct ScaleByLionOptions {
  double b1 = 0.9;                     ///< weight of mu in the update
  double b2 = 0.99;                    ///< decay of mu
  std::optional<DType> mu_dtype = {};  ///< type mu is kept in; the parameters' unless given
};

/// sign((1 - b1) g + b1 mu), then mu' = (1 - b2) g + b2 mu. State: {count, mu}. Chen et al. 2023,
/// arXiv:2302.06675.
[[nodiscard]] GradientTransformation scale_by_lion(const ScaleByLionOptions& options = {});

}  // namespace lockstep::optim
