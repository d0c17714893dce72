#include "train_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/pjrt/runtime.h"
#include "lockstep/strategy/create_strategy.h"
#include "lockstep/train/trainer_options.h"

namespace lockstep::cli {
namespace {

constexpr std::int64_t largest_count = std::int64_t{1} << 31;

const char* accelerators[] = {"auto", "cpu", "gpu", "tpu"};

// Quotes the text, and nothing more, where a --devices spelling is wrong.
std::string check_devices(const std::string& text) {
  try {
    static_cast<void>(DeviceRequest::parse(text));
    return {};
  } catch (const ValueError& error) {
    return error.what();
  }
}

// $XDG_CACHE_HOME/lockstep or ~/.cache/lockstep; nothing where neither variable is set.
std::optional<std::filesystem::path> user_cache_dir() {
  if (const auto base = environment_variable("XDG_CACHE_HOME"); base && !base->empty()) {
    return std::filesystem::path(*base) / "lockstep";
  }
  if (const auto home = environment_variable("HOME"); home && !home->empty()) {
    return std::filesystem::path(*home) / ".cache" / "lockstep";
  }
  return std::nullopt;
}

}  // namespace

void add_train_options(CLI::App& command, TrainOptions& options) {
  const CLI::Range positive(std::int64_t{1}, largest_count);
  // As elsewhere on a command line, the last of several wins; --logger collects.
  command.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command.add_option("--accelerator", options.accelerator, "auto, cpu, gpu or tpu")
      ->check(
          CLI::IsMember(std::vector<std::string>(std::begin(accelerators), std::end(accelerators))))
      ->capture_default_str()
      ->group("Devices");
  command
      .add_option("--devices", options.devices,
                  "auto (all), a count (2: the first two), or indices (0,2; one index: 3, or [3])")
      ->check(CLI::Validator(check_devices, ""))
      ->capture_default_str()
      ->group("Devices");
  command
      .add_option("--cpu-devices", options.cpu_devices, "How many CPU devices this process exposes")
      ->check(positive)
      ->group("Devices");

  command.add_option("--max-steps", options.max_steps, "Step at which training ends")
      ->check(CLI::Range(std::int64_t{0}, largest_count))
      ->group("Training");
  command.add_option("--max-epochs", options.max_epochs, "Passes over the training data")
      ->check(positive)
      ->group("Training");
  command.add_option("--batch-size", options.batch_size, "Rows of the global batch")
      ->check(positive)
      ->group("Training");
  command.add_option("--learning-rate", options.learning_rate, "Peak learning rate")
      ->check(CLI::PositiveNumber)
      ->group("Training");
  command.add_option("--seed", options.seed, "Seed of parameters, shuffling and keys")
      ->capture_default_str()
      ->group("Training");
  command.add_option("--detect-nan", options.nan_policy, "What a loss that is not finite does")
      ->check(CLI::IsMember({"stop", "warn", "ignore"}))
      ->capture_default_str()
      ->group("Training");

  command.add_option("--data", options.data_dir, "Folder of the data")->group("Files");
  command.add_option("--root-dir", options.root_dir, "Runs get folders ROOT/NAME/version_N")
      ->capture_default_str()
      ->group("Files");
  command.add_option("--name", options.name, "Name of the run; default: the job's")->group("Files");
  command
      .add_option("--compile-cache", options.compile_cache,
                  "Folder of compiled programs, or off; default: the user's cache folder")
      ->type_name("DIR|off")
      ->group("Files");

  command.add_option("--log-every", options.log_every, "Log metrics every N steps")
      ->check(positive)
      ->capture_default_str()
      ->group("Output");
  command
      .add_option("--val-every", options.val_every, "Validate every N steps; default: every epoch")
      ->check(positive)
      ->group("Output");
  command.add_option("--logger", options.loggers, "csv or none; may be given several times")
      ->check(CLI::IsMember({"csv", "none"}))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str()
      ->group("Output");
  command.add_flag("--no-progress", options.no_progress, "Show no progress and no summary")
      ->group("Output");
  command.add_flag("--json", options.json, "Print the result as one JSON object on one line")
      ->group("Output");
}

TrainerOptions to_trainer_options(const TrainOptions& options, const std::string& default_name) {
  if (options.cpu_devices) set_cpu_device_count(*options.cpu_devices);
  TrainerOptions trainer;
  trainer.max_steps = options.max_steps;
  trainer.max_epochs = options.max_epochs;
  trainer.strategy = create_strategy(options.accelerator, DeviceRequest::parse(options.devices));
  trainer.root_dir = options.root_dir;
  trainer.name = options.name.empty() ? default_name : options.name;
  trainer.seed = options.seed;
  trainer.log_every_n_steps = options.log_every;
  trainer.val_every_n_steps = options.val_every;
  trainer.enable_progress_bar = !options.no_progress;
  trainer.enable_csv_logger =
      std::find(options.loggers.begin(), options.loggers.end(), "none") == options.loggers.end();
  trainer.detect_nan = nan_policy_from_string(options.nan_policy);
  if (options.compile_cache != "off") {
    if (!options.compile_cache.empty()) {
      trainer.compile_cache_dir = options.compile_cache;
    } else {
      trainer.compile_cache_dir = user_cache_dir();
    }
  }
  return trainer;
}

}  // namespace lockstep::cli
