#pragma once
/// What a fit gives back.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/array/array.h"
#include "lockstep/train/logger.h"

namespace lockstep {

/// What a fit gives back. Times are in seconds of a monotonic clock.
struct FitResult {
  /// The state after the last completed step, on the strategy's devices.
  Tree state;
  Metrics metrics;                ///< of the last step: "loss" and the objective's metrics
  Metrics validation_metrics;     ///< of the last validation; empty where there was none
  std::int64_t steps = 0;         ///< that this fit ran
  std::int64_t step = 0;          ///< of the state: where it came in plus `steps`
  std::int64_t epochs = 0;        ///< whole passes over the training batches
  std::int64_t examples = 0;      ///< rows of all batches
  bool interrupted = false;       ///< by SIGINT
  bool stopped_early = false;     ///< by a callback
  std::string stop_reason;        ///< what that callback said
  std::filesystem::path run_dir;  ///< empty where nothing was written

  double compile_seconds = 0;     ///< tracing and compiling, or loading from the cache
  double first_step_seconds = 0;  ///< from the start of the process to the end of the first step
  /// Median over windows of about a quarter second after the first (the whole of a shorter run
  /// after its first step); validation is not counted. 0 for fewer than two steps.
  double steps_per_second = 0;
  double examples_per_second = 0;
  double wall_seconds = 0;    ///< the whole call
  double peak_memory_mb = 0;  ///< highest resident memory of the process, in MiB
  /// Highest memory in use on the first device, in MiB, where the plugin reports it.
  std::optional<double> peak_device_memory_mb;
};

}  // namespace lockstep
