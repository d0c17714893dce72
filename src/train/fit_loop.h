#pragma once
// The loop of Trainer::fit: one object for one fit.
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/data/data_source.h"
#include "lockstep/train/callback.h"
#include "lockstep/train/fit_result.h"
#include "lockstep/train/metrics.h"
#include "lockstep/train/progress.h"
#include "lockstep/train/step.h"
#include "lockstep/train/trainer_options.h"
#include "train/evaluation.h"

namespace lockstep {

class FitLoop final : public FitContext {
 public:
  // `evaluation` and `validation` may be null together.
  FitLoop(const TrainerOptions& options, CompiledStep& step, data::DataSource& training,
          Evaluation* evaluation, data::DataSource* validation);

  // Makes the state a fit begins with, for a first batch of this kind.
  using StateMaker = std::function<Tree(const Tree& first_batch)>;

  // Runs the whole fit. What is thrown has gone through the callbacks' on_exception.
  [[nodiscard]] FitResult run(const StateMaker& make_state);

  // FitContext, for callbacks.
  [[nodiscard]] std::int64_t step() const override { return first_step_ + steps_; }
  [[nodiscard]] std::int64_t epoch() const override { return epochs_; }
  [[nodiscard]] std::optional<std::int64_t> max_steps() const override {
    return options_.max_steps;
  }
  [[nodiscard]] const Strategy& strategy() const override { return *options_.strategy; }
  [[nodiscard]] const std::filesystem::path& run_dir() const override { return run_dir_; }
  [[nodiscard]] Metrics metrics() override;
  [[nodiscard]] const Metrics& validation_metrics() const override { return validation_metrics_; }
  [[nodiscard]] Tree state() const override;
  void log_metrics(const Metrics& metrics) override;
  void request_stop(std::string reason) override;

 private:
  // A step that was issued, as its metrics.
  struct Issued {
    std::int64_t step;
    std::vector<Array> metrics;
    bool is_logged;  // its metrics are to be read
  };

  [[nodiscard]] bool writes() const { return options_.strategy->is_global_zero(); }
  void take_step_counter(const Tree& state);
  void make_run_dir();
  void start(const StateMaker& make_state);
  void make_loggers();
  void loop();
  [[nodiscard]] bool fetch_batch();
  [[nodiscard]] const data::Batch& batch() const;
  void place_batch();
  void run_step();
  void finish_steps(std::size_t keep);
  void report(const Issued& issued);
  void check_finite(const Metrics& metrics, std::int64_t step);
  void end_epoch();
  void validate();
  void finish();
  void check_step_counter();
  void fail(std::exception_ptr error);
  [[nodiscard]] std::optional<std::int64_t> expected_last_step() const;
  [[nodiscard]] bool should_stop() const;
  [[nodiscard]] FitResult result();
  template <class Call>
  void call_callbacks(const Call& call);

  const TrainerOptions& options_;
  CompiledStep& step_function_;
  data::DataSource& training_;
  Evaluation* evaluation_;
  data::DataSource* validation_;
  std::vector<Callback*> callbacks_;  // by priority
  std::size_t max_in_flight_;

  std::filesystem::path run_dir_;
  std::unique_ptr<Logger> loggers_;
  std::unique_ptr<ProgressDisplay> progress_;

  std::vector<Array> state_;
  std::optional<data::Batch> batch_;
  std::vector<Array> batch_leaves_;
  std::vector<Array> latest_metrics_;
  std::deque<Issued> in_flight_;

  bool has_step_counter_ = false;
  std::int64_t first_step_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t epochs_ = 0;
  std::int64_t batches_in_epoch_ = 0;
  std::int64_t examples_ = 0;
  std::int64_t reported_step_ = -1;  // of metrics_
  std::int64_t validated_step_ = -1;
  bool stop_requested_ = false;
  std::string stop_reason_;
  bool interrupted_ = false;
  bool warned_of_nan_ = false;
  bool start_callbacks_ran_ = false;

  Metrics metrics_;
  Metrics validation_metrics_;
  StepRate step_rate_{0.25};
  StepRate example_rate_{0.25};
  double start_time_ = 0;
  double first_step_seconds_ = 0;
};

}  // namespace lockstep
