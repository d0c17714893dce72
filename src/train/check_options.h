#pragma once
#include "lockstep/train/trainer_options.h"

namespace lockstep {

// ValueError naming the option that cannot be used.
void check_options(const TrainerOptions& options);

// The options as they are written to the run folder. The strategy must be set.
[[nodiscard]] Hyperparameters to_hyperparameters(const TrainerOptions& options);

}  // namespace lockstep
