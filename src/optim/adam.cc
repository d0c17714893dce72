#include "lockstep/optim/adam.h"

#include "lockstep/optim/scale.h"

namespace lockstep::optim {

GradientTransformation adam(const ScalarOrSchedule& learning_rate, const AdamOptions& options) {
  return chain(scale_by_adam(options), scale_by_learning_rate(learning_rate));
}

GradientTransformation nadam(const ScalarOrSchedule& learning_rate, AdamOptions options) {
  options.nesterov = true;
  return adam(learning_rate, options);
}

}  // namespace lockstep::optim
