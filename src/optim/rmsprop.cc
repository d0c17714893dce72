#include "lockstep/optim/rmsprop.h"

#include "lockstep/optim/scale.h"
#include "lockstep/optim/trace.h"

namespace lockstep::optim {

GradientTransformation rmsprop(const ScalarOrSchedule& learning_rate,
                               const RmsPropOptions& options) {
  const ScaleByRmsOptions rescaling{.decay = options.decay,
                                    .eps = options.eps,
                                    .initial_scale = options.initial_scale,
                                    .eps_in_sqrt = options.eps_in_sqrt,
                                    .bias_correction = options.bias_correction};
  return chain(
      options.centered ? scale_by_stddev(rescaling) : scale_by_rms(rescaling),
      scale_by_learning_rate(learning_rate),
      options.momentum ? trace(*options.momentum, {.nesterov = options.nesterov}) : identity());
}

}  // namespace lockstep::optim
