#include "lockstep/optim/adagrad.h"

#include "lockstep/optim/scale.h"

namespace lockstep::optim {

GradientTransformation adagrad(const ScalarOrSchedule& learning_rate,
                               const AdagradOptions& options) {
  return chain(scale_by_rss(options), scale_by_learning_rate(learning_rate));
}

}  // namespace lockstep::optim
