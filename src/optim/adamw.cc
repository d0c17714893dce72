#include "lockstep/optim/adamw.h"

#include "lockstep/optim/scale.h"

namespace lockstep::optim {

GradientTransformation adamw(const ScalarOrSchedule& learning_rate, const AdamWOptions& options) {
  return chain(scale_by_adam({.b1 = options.b1,
                              .b2 = options.b2,
                              .eps = options.eps,
                              .eps_root = options.eps_root,
                              .mu_dtype = options.mu_dtype,
                              .nesterov = options.nesterov}),
               add_decayed_weights(options.weight_decay, options.mask),
               scale_by_learning_rate(learning_rate));
}

GradientTransformation nadamw(const ScalarOrSchedule& learning_rate, AdamWOptions options) {
  options.nesterov = true;
  return adamw(learning_rate, options);
}

}  // namespace lockstep::optim
