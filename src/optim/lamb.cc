#include "lockstep/optim/lamb.h"

#include "lockstep/optim/scale.h"
#include "lockstep/optim/scale_by_trust_ratio.h"

namespace lockstep::optim {

GradientTransformation lamb(const ScalarOrSchedule& learning_rate, const LambOptions& options) {
  return chain(
      scale_by_adam(
          {.b1 = options.b1, .b2 = options.b2, .eps = options.eps, .eps_root = options.eps_root}),
      add_decayed_weights(options.weight_decay, options.mask), scale_by_trust_ratio(),
      scale_by_learning_rate(learning_rate));
}

}  // namespace lockstep::optim
