#include "lockstep/train/logger.h"

#include <exception>
#include <utility>

#include "lockstep/base/error.h"

namespace lockstep {

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::Success: return "success";
    case RunStatus::Interrupted: return "interrupted";
    case RunStatus::Failed: return "failed";
  }
  return "failed";
}

LoggerList::LoggerList(std::vector<std::shared_ptr<Logger>> loggers)
    : loggers_(std::move(loggers)) {
  for (std::size_t index = 0; index < loggers_.size(); ++index) {
    if (loggers_[index] == nullptr) {
      throw_value_error("LoggerList", "logger " + std::to_string(index) + " of " +
                                          std::to_string(loggers_.size()) +
                                          " is null; leave it out instead");
    }
  }
}

template <class Call>
void LoggerList::call_all(const Call& call) const {
  std::exception_ptr first_error;
  for (const std::shared_ptr<Logger>& logger : loggers_) {
    try {
      call(*logger);
    } catch (...) {
      if (first_error == nullptr) first_error = std::current_exception();
    }
  }
  if (first_error != nullptr) std::rethrow_exception(first_error);
}

void LoggerList::log_hyperparameters(const Hyperparameters& hyperparameters) {
  call_all([&](Logger& logger) { logger.log_hyperparameters(hyperparameters); });
}

void LoggerList::log_metrics(std::int64_t step, const Metrics& metrics) {
  call_all([&](Logger& logger) { logger.log_metrics(step, metrics); });
}

void LoggerList::flush() {
  call_all([](Logger& logger) { logger.flush(); });
}

void LoggerList::finalize(RunStatus status) {
  call_all([status](Logger& logger) { logger.finalize(status); });
}

}  // namespace lockstep
