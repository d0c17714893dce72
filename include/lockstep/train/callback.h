#pragma once
/// Callbacks: what is called at the moments of a fit.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/strategy/strategy.h"
#include "lockstep/train/logger.h"

namespace lockstep {

/// What a callback sees of the running fit. Valid during the call only.
class FitContext {
 public:
  virtual ~FitContext() = default;

  /// Steps that have been issued, counted from the state's first one: after the third step of a new
  /// state it is 3.
  [[nodiscard]] virtual std::int64_t step() const = 0;
  /// Whole passes over the training batches so far.
  [[nodiscard]] virtual std::int64_t epoch() const = 0;
  /// The step at which the fit ends, where one is set.
  [[nodiscard]] virtual std::optional<std::int64_t> max_steps() const = 0;
  [[nodiscard]] virtual const Strategy& strategy() const = 0;
  /// The folder of this run; empty where nothing is written.
  [[nodiscard]] virtual const std::filesystem::path& run_dir() const = 0;

  /// The metrics of the latest step. Reading them waits for it; a callback that reads only every
  /// n-th step costs nothing on the others. Empty before the first step.
  [[nodiscard]] virtual Metrics metrics() = 0;
  /// The metrics of the latest validation, without a prefix; empty before the first.
  [[nodiscard]] virtual const Metrics& validation_metrics() const = 0;
  /// The state after the latest step. The next step takes its arrays over: copy (device_get) what
  /// is to be kept.
  [[nodiscard]] virtual Tree state() const = 0;

  /// Logs values of one's own beside the trainer's, under the current step.
  virtual void log_metrics(const Metrics& metrics) = 0;
  /// Ends the fit after this moment's callbacks have all been called. `reason` is shown to the
  /// user.
  virtual void request_stop(std::string reason) = 0;

 protected:
  FitContext() = default;
  FitContext(const FitContext&) = default;
  FitContext& operator=(const FitContext&) = default;
};

/// Base of callbacks; override what is of interest. They are called on the thread that called fit,
/// on every process. One that throws ends the fit with that exception.
class Callback {
 public:
  virtual ~Callback() = default;

  /// Callbacks of a higher priority are called first, equal ones in the order they were given.
  [[nodiscard]] virtual int priority() const { return 0; }

  /// Everything is compiled and placed; no step has run.
  virtual void on_fit_start(FitContext& context) { (void)context; }
  /// A step was issued (it may still be running).
  virtual void on_train_step_end(FitContext& context) { (void)context; }
  /// A pass over the training batches is over.
  virtual void on_train_epoch_end(FitContext& context) { (void)context; }
  /// A validation is over; validation_metrics() has its values.
  virtual void on_validation_end(FitContext& context) { (void)context; }
  /// The last step has completed, however the fit ended, unless by an exception.
  virtual void on_fit_end(FitContext& context) { (void)context; }
  /// The fit ends with this exception, which is thrown on afterwards. What is thrown here is logged
  /// and dropped.
  virtual void on_exception(FitContext& context, std::exception_ptr error) {
    (void)context;
    (void)error;
  }

 protected:
  Callback() = default;
  Callback(const Callback&) = default;
  Callback& operator=(const Callback&) = default;
};

}  // namespace lockstep
