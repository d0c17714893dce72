#pragma once
/// Bounds on the size of updates.
#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

/// The square root of the sum of the squares of all elements of all leaves; 0 without leaves.
/// Derivative NaN where it is 0.
[[nodiscard]] Array global_norm(const Tree& tree);

/// Updates with global_norm below `max_norm` as they are, others divided by their norm and
/// multiplied by max_norm.
[[nodiscard]] GradientTransformation clip_by_global_norm(double max_norm);

/// Each element moved into [-max_delta, max_delta].
[[nodiscard]] GradientTransformation clip(double max_delta);

}  // namespace lockstep::optim
