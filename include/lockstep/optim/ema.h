#pragma once
/// Exponential moving averages.
#include <optional>

#include "lockstep/array/dtype.h"
#include "lockstep/optim/gradient_transformation.h"

namespace lockstep::optim {

struct EmaOptions {
  bool debias = true;                           ///< divide by 1 - decay^(count + 1)
  std::optional<DType> accumulator_dtype = {};  ///< type the average is kept in
};

/// ema' = decay ema + (1 - decay) updates; gives ema'. State: {count, ema}. To average parameters
/// call its update with them in place of the updates.
[[nodiscard]] GradientTransformation ema(double decay, const EmaOptions& options = {});

}  // namespace lockstep::optim
