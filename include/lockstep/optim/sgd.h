#pragma once
/// Stochastic gradient descent.
#include <optional>

#include "lockstep/array/dtype.h"
#include "lockstep/optim/gradient_transformation.h"
#include "lockstep/optim/schedule.h"

namespace lockstep::optim {

struct SgdOptions {
  std::optional<double> momentum = {};  ///< none: plain descent, without a state
  bool nesterov = false;
  std::optional<DType> accumulator_dtype = {};  ///< type the momentum is kept in
};

/// p - learning_rate g, with momentum through trace().
[[nodiscard]] GradientTransformation sgd(const ScalarOrSchedule& learning_rate,
                                         const SgdOptions& options = {});

}  // namespace lockstep::optim
