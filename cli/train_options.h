#pragma once
// The options that every job of `lockstep train` shares.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lockstep {
struct TrainerOptions;
}

namespace lockstep::cli {

struct TrainOptions {
  std::string accelerator = "auto";
  std::string devices = "1";
  std::optional<std::int64_t> cpu_devices;
  std::optional<std::int64_t> max_steps;
  std::optional<std::int64_t> max_epochs;
  std::optional<std::int64_t> batch_size;
  std::optional<double> learning_rate;
  std::uint64_t seed = 0;
  std::string data_dir;
  std::string root_dir = "runs";
  std::string name;
  std::int64_t log_every = 50;
  std::optional<std::int64_t> val_every;
  std::vector<std::string> loggers = {"csv"};
  std::string nan_policy = "stop";
  bool no_progress = false;
  std::string compile_cache;
  bool json = false;
};

// Declares the options on `command`; parsing fills `options`.
void add_train_options(CLI::App& command, TrainOptions& options);

// Makes the strategy, the compile cache and the trainer's settings of them. The devices are started
// here. ValueError or RuntimeError where something asked for cannot be had.
TrainerOptions to_trainer_options(const TrainOptions& options, const std::string& default_name);

}  // namespace lockstep::cli
