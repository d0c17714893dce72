#pragma once
/// Loggers: where a run's metrics go.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep {

/// Values by name: "loss", "val/accuracy".
using Metrics = std::map<std::string, double>;

/// A setting of a run.
using HyperparameterValue = std::variant<bool, std::int64_t, double, std::string>;
/// Settings by name.
using Hyperparameters = std::map<std::string, HyperparameterValue>;

/// How a run ended.
enum class RunStatus { Success, Interrupted, Failed };

/// "success", "interrupted", "failed".
[[nodiscard]] std::string_view to_string(RunStatus status);

/// Receives the metrics of a run. Called from one thread, by global rank zero only.
class Logger {
 public:
  virtual ~Logger() = default;
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  /// The settings of the run, once, before the first metrics.
  virtual void log_hyperparameters(const Hyperparameters& hyperparameters) = 0;
  /// Metrics after `step` steps. Calls for one step may be several (training, then validation);
  /// steps do not decrease.
  virtual void log_metrics(std::int64_t step, const Metrics& metrics) = 0;
  /// Hands everything logged so far to the operating system. A checkpoint calls it first, so that
  /// no row up to the checkpoint's step can be lost to a kill.
  virtual void flush() = 0;
  /// The end of the run: flushes and releases. Later calls do nothing.
  virtual void finalize(RunStatus status) = 0;

 protected:
  Logger() = default;
};

/// Several loggers as one. An error in one does not keep the call from the others; the first error
/// is thrown after all have been called.
class LoggerList final : public Logger {
 public:
  /// ValueError for a null logger.
  explicit LoggerList(std::vector<std::shared_ptr<Logger>> loggers);

  void log_hyperparameters(const Hyperparameters& hyperparameters) override;
  void log_metrics(std::int64_t step, const Metrics& metrics) override;
  void flush() override;
  void finalize(RunStatus status) override;

 private:
  template <class Call>
  void call_all(const Call& call) const;

  std::vector<std::shared_ptr<Logger>> loggers_;
};

}  // namespace lockstep
