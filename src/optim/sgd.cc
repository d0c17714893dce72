#include "lockstep/optim/sgd.h"

#include "lockstep/optim/scale.h"
#include "lockstep/optim/trace.h"

namespace lockstep::optim {

GradientTransformation sgd(const ScalarOrSchedule& learning_rate, const SgdOptions& options) {
  return chain(options.momentum
                   ? trace(*options.momentum, {.nesterov = options.nesterov,
                                               .accumulator_dtype = options.accumulator_dtype})
                   : identity(),
               scale_by_learning_rate(learning_rate));
}

}  // namespace lockstep::optim
