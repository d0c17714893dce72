#pragma once
/// The settings of a Trainer.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/strategy/create_strategy.h"
#include "lockstep/train/callback.h"
#include "lockstep/train/logger.h"

namespace lockstep {

/// What to do about a loss that is NaN or infinite.
enum class NanPolicy {
  Stop,  ///< RuntimeError naming the step and the metric
  Warn,  ///< one warning for the whole fit
  Ignore,
};

/// "stop", "warn", "ignore"; ValueError listing them for another word.
[[nodiscard]] std::string_view to_string(NanPolicy policy);
[[nodiscard]] NanPolicy nan_policy_from_string(std::string_view text);

/// The bound on steps in flight where none is set: enough to hide the host's work, and far below
/// what the runtime bears. CPU devices of one process meet in collectives by blocking threads of a
/// shared pool: with 33 and more runs in flight they were seen to wait for each other for ever,
/// with up to 32 never (2, 4 and 8 devices on two busy cores).
inline constexpr std::int64_t default_max_steps_in_flight = 8;

/// The settings of a Trainer. Trainer's constructor checks each of them; its error names the
/// option. At least one of max_steps and max_epochs must be set; the first that is reached ends the
/// fit.
struct TrainerOptions {
  /// The step at which training ends: an absolute target, so a state that comes in at step 40 gets
  /// one step with max_steps 41, and none with 40 or less. Not negative.
  std::optional<std::int64_t> max_steps = {};
  /// Passes over the training batches. Positive; the source must have an end.
  std::optional<std::int64_t> max_epochs = {};

  /// Where to train; if null, create_strategy(accelerator, devices).
  std::shared_ptr<const Strategy> strategy = nullptr;
  std::string accelerator = "auto";
  DeviceRequest devices = 1;

  /// Runs get folders root_dir/name/version_N; an empty path writes nothing at all.
  std::filesystem::path root_dir = "runs";
  std::string name = "run";
  /// Seed of the parameters and of every key that the loss is given.
  std::uint64_t seed = 0;

  /// Metrics are logged at the first step, every n-th, and the last. Positive.
  std::int64_t log_every_n_steps = 50;
  /// Validation after every n-th step, besides the end of the fit; unset: after every epoch and at
  /// the end. Positive.
  std::optional<std::int64_t> val_every_n_steps = {};
  /// At most so many batches of each validation (not of evaluate()). Positive.
  std::optional<std::int64_t> limit_val_batches = {};
  /// At most so many batches of each epoch. Positive.
  std::optional<std::int64_t> limit_train_batches = {};

  /// A live line of progress on standard error (plain lines where that is no terminal), and a
  /// summary at the end.
  bool enable_progress_bar = true;
  /// metrics.csv in the run folder.
  bool enable_csv_logger = true;
  /// Further loggers.
  std::vector<std::shared_ptr<Logger>> loggers = {};
  std::vector<std::shared_ptr<Callback>> callbacks = {};

  /// How many steps may be running at once. Positive.
  std::int64_t max_steps_in_flight = default_max_steps_in_flight;
  /// A loss that is not finite, noticed where metrics are read (see log_every_n_steps).
  NanPolicy detect_nan = NanPolicy::Stop;
  /// Where compiled programs are kept between runs; unset: as set_compile_cache_dir left it.
  std::optional<std::filesystem::path> compile_cache_dir = {};
};

}  // namespace lockstep
