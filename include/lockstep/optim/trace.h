#pragma once
/// Momentum.
#include <optional>

#include "lockstep/array/dtype.h"
#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

struct TraceOptions {
  bool nesterov = false;
  std::optional<DType> accumulator_dtype =
      {};  ///< type the trace is kept in; the parameters' unless given
};

/// trace' = updates + decay * trace; gives trace', with Nesterov updates + decay * trace'. State:
/// {trace}.
[[nodiscard]] GradientTransformation trace(double decay, const TraceOptions& options = {});

}  // namespace lockstep::optim
