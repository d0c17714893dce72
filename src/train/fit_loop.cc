#include "train/fit_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/train/csv_logger.h"
#include "lockstep/train/run_dir.h"
#include "lockstep/train/train_state.h"
#include "lockstep/tree/algorithms.h"
#include "train/check_options.h"
#include "train/clock.h"
#include "train/interrupt_guard.h"
#include "train/metric_values.h"
#include "train/process_info.h"
#include "train/tree_leaves.h"

namespace lockstep {
FitLoop::FitLoop(const TrainerOptions& options, CompiledStep& step, data::DataSource& training,
                 Evaluation* evaluation, data::DataSource* validation)
    : options_(options),
      step_function_(step),
      training_(training),
      evaluation_(evaluation),
      validation_(validation),
      max_in_flight_(static_cast<std::size_t>(options.max_steps_in_flight)) {
  for (const auto& callback : options.callbacks) callbacks_.push_back(callback.get());
  std::stable_sort(callbacks_.begin(), callbacks_.end(), [](const Callback* a, const Callback* b) {
    return a->priority() > b->priority();
  });
}

template <class Call>
void FitLoop::call_callbacks(const Call& call) {
  for (Callback* callback : callbacks_) call(*callback);
}

FitResult FitLoop::run(const StateMaker& make_state) {
  start_time_ = monotonic_seconds();
  const InterruptGuard guard;
  try {
    start(make_state);
    loop();
    finish();
    return result();
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

// The host's counter goes on where the state's is; a counter that would overflow is refused up
// front.
void FitLoop::take_step_counter(const Tree& state) {
  const std::optional<std::int64_t> counter = state_step(state);
  has_step_counter_ = counter.has_value();
  first_step_ = counter.value_or(0);
  if (!counter || !options_.max_steps || state["step"].leaf().dtype() != DType::Int32) return;
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  if (*options_.max_steps <= largest) return;
  throw_value_error("Trainer",
                    fmt::format("max_steps is {}, but the state counts its steps in int32, which "
                                "ends at {}; use a state whose step is int64",
                                *options_.max_steps, largest));
}

void FitLoop::make_run_dir() {
  if (!writes() || options_.root_dir.empty()) return;
  const RunDirectory directory =
      RunDirectory::create({.root_dir = options_.root_dir, .name = options_.name});
  run_dir_ = directory.path();
  directory.write_config(to_hyperparameters(options_));
}

void FitLoop::make_loggers() {
  std::vector<std::shared_ptr<Logger>> loggers;
  if (writes()) loggers = options_.loggers;
  if (!run_dir_.empty() && options_.enable_csv_logger) {
    CsvLoggerOptions csv;
    csv.path = run_dir_ / "metrics.csv";
    loggers.push_back(std::make_shared<CsvLogger>(std::move(csv)));
  }
  loggers_ = std::make_unique<LoggerList>(std::move(loggers));
  loggers_->log_hyperparameters(to_hyperparameters(options_));
}

void FitLoop::start(const StateMaker& make_state) {
  training_.prepare(*options_.strategy);
  // A source that an earlier fit left at the end of an epoch says so first.
  if (!fetch_batch() && !fetch_batch()) {
    throw_value_error("Trainer",
                      "the training source gave no batch; check its rows, its batch size and "
                      "whether it drops a short last batch");
  }
  // Placing comes before the run folder, so that a batch that cannot be split leaves nothing
  // behind; the run folder before anything is compiled, so that one that cannot be written costs no
  // time.
  const Tree placed_batch = options_.strategy->place_batch(batch().data);
  make_run_dir();
  make_loggers();
  const bool shows = writes() && options_.enable_progress_bar;
  progress_ = std::make_unique<ProgressDisplay>(ProgressOptions{
      .mode = shows ? ProgressMode::Auto : ProgressMode::Off, .label = options_.name});
  progress_->print(fmt::format("{} on {}", options_.name, options_.strategy->to_string()));

  const Tree state = make_state(batch().data);
  take_step_counter(state);
  const Tree placed_state = options_.strategy->place_state(state);
  step_function_.compile(placed_state, placed_batch);
  state_ = flatten(placed_state);
  batch_leaves_ = flatten(placed_batch);
  if (options_.max_steps && should_stop()) {
    progress_->print(fmt::format("nothing to train: the state is at step {}, max_steps {}",
                                 first_step_, *options_.max_steps));
  }
  progress_->start(first_step_, expected_last_step().value_or(0));
  start_callbacks_ran_ = true;
  call_callbacks([&](Callback& callback) { callback.on_fit_start(*this); });
}

// The step at which the options will end the fit, as far as it can be known beforehand.
std::optional<std::int64_t> FitLoop::expected_last_step() const {
  std::optional<std::int64_t> last = options_.max_steps;
  std::optional<std::int64_t> batches = training_.batches_per_epoch();
  if (batches && options_.limit_train_batches)
    batches = std::min(*batches, *options_.limit_train_batches);
  if (options_.max_epochs && batches) {
    const std::int64_t end_of_epochs = first_step_ + *options_.max_epochs * *batches;
    last = last ? std::min(*last, end_of_epochs) : end_of_epochs;
  }
  return last;
}

bool FitLoop::should_stop() const {
  return stop_requested_ || interrupted_ || (options_.max_steps && step() >= *options_.max_steps) ||
         (options_.max_epochs && epochs_ >= *options_.max_epochs);
}

void FitLoop::loop() {
  // The first batch is fetched and placed already.
  while (!should_stop()) {
    if (!batch_) {
      if (!fetch_batch()) {
        end_epoch();
        continue;
      }
      place_batch();
    }
    run_step();
    batch_.reset();
    if (options_.limit_train_batches && batches_in_epoch_ == *options_.limit_train_batches) {
      training_.skip_to_next_epoch();
      end_epoch();
    } else if (options_.val_every_n_steps && step() % *options_.val_every_n_steps == 0) {
      validate();
    }
    if (InterruptGuard::interrupted()) interrupted_ = true;
  }
}

// The batch that fetch_batch has found.
const data::Batch& FitLoop::batch() const {
  return *batch_;  // NOLINT(bugprone-unchecked-optional-access): see above
}

// The next batch of this epoch; false at its end.
bool FitLoop::fetch_batch() {
  batch_ = training_.next();
  if (!batch_) {
    if (batches_in_epoch_ == 0 && steps_ > 0) {
      throw_value_error("Trainer",
                        fmt::format("epoch {} of the training source has no batch, although an "
                                    "earlier one had; the source must begin anew",
                                    epochs_));
    }
    return false;
  }
  if (batch_->num_rows > 0) return true;
  throw_value_error("Trainer",
                    fmt::format("the batch after step {} has no rows, and the mean of nothing is "
                                "not a number; leave empty batches out",
                                step()));
}

void FitLoop::place_batch() {
  const Tree placed = options_.strategy->place_batch(batch().data);
  if (flatten_as(step_function_.batch_structure(), placed, batch_leaves_)) return;
  step_function_.compile(state(), placed);  // batches of another structure
  batch_leaves_ = flatten(placed);
}

void FitLoop::run_step() {
  finish_steps(max_in_flight_ - 1);
  step_function_.run(state_, batch_leaves_, latest_metrics_);
  batch_leaves_.clear();
  ++steps_;
  ++batches_in_epoch_;
  examples_ += batch().num_rows;
  const bool is_logged = steps_ == 1 || step() % options_.log_every_n_steps == 0;
  in_flight_.push_back({step(), latest_metrics_, is_logged});
  if (steps_ == 1) {
    finish_steps(0);
    first_step_seconds_ = seconds_since_process_start();
  }
  const double now = monotonic_seconds();
  step_rate_.record(steps_, now);
  example_rate_.record(examples_, now);
  progress_->update(step());
  call_callbacks([&](Callback& callback) { callback.on_train_step_end(*this); });
}

// Waits for all steps but the newest `keep`, and reports those whose metrics are logged.
void FitLoop::finish_steps(std::size_t keep) {
  while (in_flight_.size() > keep) {
    Issued& oldest = in_flight_.front();
    if (!oldest.metrics.empty()) {
      oldest.metrics.front().block_until_ready();
    } else if (!state_.empty()) {
      state_.front().block_until_ready();
    }
    if (oldest.is_logged) report(oldest);
    in_flight_.pop_front();
  }
}

void FitLoop::report(const Issued& issued) {
  reported_step_ = issued.step;
  metrics_ = read_metrics(step_function_.metric_names(), issued.metrics);
  loggers_->log_metrics(issued.step, metrics_);
  progress_->set_metrics(metrics_);
  check_finite(metrics_, issued.step);
}

void FitLoop::check_finite(const Metrics& metrics, std::int64_t step) {
  if (options_.detect_nan == NanPolicy::Ignore) return;
  const std::string name = name_of_non_finite(metrics);
  if (name.empty()) return;
  const std::string what =
      fmt::format("the metric '{}' is {} at step {}", name, metrics.at(name), step);
  if (options_.detect_nan == NanPolicy::Stop) {
    throw_runtime_error("Trainer",
                        what +
                            "; lower the learning rate, clip gradients, or set detect_nan to "
                            "warn or ignore to go on");
  }
  if (!std::exchange(warned_of_nan_, true)) progress_->print("warning: " + what);
}

void FitLoop::end_epoch() {
  ++epochs_;
  batches_in_epoch_ = 0;
  call_callbacks([&](Callback& callback) { callback.on_train_epoch_end(*this); });
  if (!options_.val_every_n_steps) validate();
}

void FitLoop::validate() {
  if (validation_ == nullptr || validated_step_ == step()) return;
  validated_step_ = step();
  finish_steps(0);
  step_rate_.pause();
  example_rate_.pause();
  validation_metrics_ = evaluation_->run(state(), *validation_, options_.limit_val_batches);
  Metrics logged;
  for (const auto& [name, value] : validation_metrics_) logged["val/" + name] = value;
  progress_->set_validation_metrics(logged);
  loggers_->log_metrics(step(), logged);
  call_callbacks([&](Callback& callback) { callback.on_validation_end(*this); });
}

void FitLoop::finish() {
  finish_steps(0);
  // The last step is logged, also where a validation has waited for it before.
  if (steps_ > 0 && reported_step_ != step()) report({step(), latest_metrics_, true});
  if (!interrupted_) validate();
  check_step_counter();
  call_callbacks([&](Callback& callback) { callback.on_fit_end(*this); });
  loggers_->finalize(interrupted_ ? RunStatus::Interrupted : RunStatus::Success);
  progress_->finish();
}

void FitLoop::check_step_counter() {
  if (!has_step_counter_) return;
  const std::optional<std::int64_t> counter = state_step(state());
  if (counter == step()) return;
  throw_runtime_error(
      "Trainer",
      fmt::format("the state counts {} steps where the trainer counts {}; a step must add 1 to "
                  "'step', in a type that can count so far (not float32 beyond 2^24)",
                  counter.value_or(-1), step()));
}

void FitLoop::fail(std::exception_ptr error) {
  const auto attempt = [](const char* what, const auto& action) {
    try {
      action();
    } catch (const std::exception& second) {
      log_error(fmt::format("while ending the failed run, {}: {}", what, second.what()));
    }
  };
  if (start_callbacks_ran_) {
    for (Callback* callback : callbacks_) {
      attempt("a callback failed", [&] { callback->on_exception(*this, error); });
    }
  }
  if (loggers_) attempt("a logger failed", [&] { loggers_->finalize(RunStatus::Failed); });
  if (progress_) progress_->finish();
  // A run that never made a step leaves no folder.
  if (steps_ == 0 && !run_dir_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(run_dir_, ignored);
  }
}

FitResult FitLoop::result() {
  FitResult result;
  result.state = state();
  result.metrics = metrics_;
  result.validation_metrics = validation_metrics_;
  result.steps = steps_;
  result.step = step();
  result.epochs = epochs_;
  result.examples = examples_;
  result.interrupted = interrupted_;
  result.stopped_early = stop_requested_;
  result.stop_reason = stop_reason_;
  result.run_dir = run_dir_;
  result.compile_seconds = step_function_.compile_seconds();
  result.first_step_seconds = first_step_seconds_;
  result.steps_per_second = step_rate_.median().value_or(0);
  result.examples_per_second = example_rate_.median().value_or(0);
  result.wall_seconds = monotonic_seconds() - start_time_;
  result.peak_memory_mb = peak_memory_mb();
  if (const auto stats = options_.strategy->root_device().memory_stats();
      stats && stats->peak_bytes_in_use) {
    result.peak_device_memory_mb =
        static_cast<double>(*stats->peak_bytes_in_use) / (1024.0 * 1024.0);
  }
  return result;
}

Metrics FitLoop::metrics() {
  if (latest_metrics_.empty()) return {};
  return read_metrics(step_function_.metric_names(), latest_metrics_);
}

Tree FitLoop::state() const {
  return unflatten<Array>(step_function_.state_structure(), std::span<const Array>(state_));
}

void FitLoop::log_metrics(const Metrics& metrics) {
  loggers_->log_metrics(step(), metrics);
}

void FitLoop::request_stop(std::string reason) {
  if (std::exchange(stop_requested_, true)) return;
  stop_reason_ = std::move(reason);
}

}  // namespace lockstep
