#pragma once
/// Adagrad.
#include "lockstep/optim/scale_by_rss.h"
#include "lockstep/optim/schedule.h"

namespace lockstep::optim {

/// The options of scale_by_rss.
using AdagradOptions = ScaleByRssOptions;

/// scale_by_rss, then the learning rate.
[[nodiscard]] GradientTransformation adagrad(const ScalarOrSchedule& learning_rate,
                                             const AdagradOptions& options = {});

}  // namespace lockstep::optim
