#include "lockstep/optim/lion.h"

#include "lockstep/optim/scale.h"

namespace lockstep::optim {

GradientTransformation lion(const ScalarOrSchedule& learning_rate, const LionOptions& options) {
  return chain(scale_by_lion({.b1 = options.b1, .b2 = options.b2, .mu_dtype = options.mu_dtype}),
               add_decayed_weights(options.weight_decay, options.mask),
               scale_by_learning_rate(learning_rate));
}

}  // namespace lockstep::optim
