#pragma once
/// Weight decay.
#include <functional>

#include "lockstep/optim/gradient_transformation.h"
#include "lockstep/optim/schedule.h"
#include "lockstep/tree/key_path.h"

namespace lockstep::optim {

/// Whether a transformation touches the parameter at this path.
using Mask = std::function<bool(const KeyPath& path, const Array& param)>;

/// updates + weight_decay * params, where `mask` (if there is one) says so: decay of kernels but
/// not of biases is `[](const KeyPath&, const Array& p) { return p.ndim() > 1; }`. State: {count}
/// for a schedule, else None.
[[nodiscard]] GradientTransformation add_decayed_weights(const ScalarOrSchedule& weight_decay,
                                                         Mask mask = {});

}  // namespace lockstep::optim
