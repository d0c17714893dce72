#pragma once
/// Steps with a NaN or an infinity in them are left out.
#include <cstdint>

#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

/// `inner`, whose state stays as it is and whose updates are zeros where the incoming updates are
/// not all finite; after more than `max_consecutive_errors` such steps in a row they are let
/// through. State: {inner_state, last_finite (bool), notfinite_count, total_notfinite}.
[[nodiscard]] GradientTransformation apply_if_finite(GradientTransformation inner,
                                                     std::int64_t max_consecutive_errors);

}  // namespace lockstep::optim
