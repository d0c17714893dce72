#pragma once
// What the tests of train/ share: quiet settings, small problems, a logger that remembers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/strategy/data_parallel.h"
#include "lockstep/strategy/single_device.h"
#include "lockstep/trace/ops.h"
#include "lockstep/train/trainer.h"
#include "support/cpu_devices.h"
#include "support/error_text.h"

namespace lockstep::testing {

// Over the first `num_devices` CPU devices.
inline std::shared_ptr<const Strategy> cpu_strategy(std::size_t num_devices) {
  if (num_devices == 1) return std::make_shared<SingleDeviceStrategy>(cpu(0));
  const std::vector<Device>& all = cpu_devices();
  return std::make_shared<DataParallelStrategy>(
      std::vector<Device>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(num_devices)));
}

// No files, nothing on the screen.
inline TrainerOptions quiet_options(std::size_t num_devices, std::int64_t max_steps) {
  TrainerOptions options;
  options.max_steps = max_steps;
  options.strategy = cpu_strategy(num_devices);
  options.root_dir = "";
  options.enable_progress_bar = false;
  return options;
}

inline Array host_array(const std::vector<float>& values, Shape shape) {
  return HostTensor::from(values, std::move(shape));
}

// {step: int32 0, w: 0}: the state of count_step.
inline Tree counting_state() {
  return Tree{{"step", Array(HostTensor::scalar(std::int32_t{0}))},
              {"w", Array(HostTensor::scalar(0.0F))}};
}

// Adds the mean of the batch's x to w; the loss is the new w.
inline StepOutput count_step(const Tree& state, const Tree& batch) {
  const Array w = state["w"].leaf() + mean(batch["x"].leaf());
  return {.state = Tree{{"step", state["step"].leaf() + 1}, {"w", w}},
          .metrics = Tree{{"loss", w}}};
}

// Batches of `rows` ones.
inline data::FunctionSource ones_source(std::int64_t rows,
                                        std::optional<std::int64_t> batches_per_epoch = {}) {
  return data::FunctionSource(
      [rows](std::int64_t) {
        return Tree{
            {"x", host_array(std::vector<float>(static_cast<std::size_t>(rows), 1.0F), {rows})}};
      },
      batches_per_epoch);
}

// Keeps everything it is given.
class RecordingLogger final : public Logger {
 public:
  void log_hyperparameters(const Hyperparameters& values) override { hyperparameters = values; }
  void log_metrics(std::int64_t step, const Metrics& metrics) override {
    rows.emplace_back(step, metrics);
  }
  void flush() override {}
  void finalize(RunStatus end) override { status = end; }

  // The steps at which `name` was logged.
  [[nodiscard]] std::vector<std::int64_t> steps_of(const std::string& name) const {
    std::vector<std::int64_t> steps;
    for (const auto& [step, metrics] : rows) {
      if (metrics.contains(name)) steps.push_back(step);
    }
    return steps;
  }

  Hyperparameters hyperparameters;
  std::vector<std::pair<std::int64_t, Metrics>> rows;
  std::optional<RunStatus> status;
};

}  // namespace lockstep::testing
