#include "lockstep/base/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"

namespace lockstep {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
    case LogLevel::Off: return spdlog::level::off;
  }
  return spdlog::level::info;
}

LogLevel level_from_environment() {
  const std::string name = environment_variable("LOCKSTEP_LOG_LEVEL").value_or("info");
  if (name == "debug") return LogLevel::Debug;
  if (name == "info" || name.empty()) return LogLevel::Info;
  if (name == "warning" || name == "warn") return LogLevel::Warning;
  if (name == "error") return LogLevel::Error;
  if (name == "off") return LogLevel::Off;
  throw_value_error("log", fmt::format("LOCKSTEP_LOG_LEVEL is '{}'; expected debug, info, "
                                       "warning, error or off",
                                       name));
}

struct Logger {
  Logger() : level(level_from_environment()) {
    sink.set_pattern("%^%l%$: %v");
    sink.set_level(to_spdlog(level));
  }
  LogLevel level;
  spdlog::sinks::stderr_sink_mt sink;
};

Logger& logger() {
  static Logger instance;
  return instance;
}

}  // namespace

void set_log_level(LogLevel level) {
  logger().level = level;
  logger().sink.set_level(to_spdlog(level));
}

LogLevel log_level() {
  return logger().level;
}

void log(LogLevel level, std::string_view message) {
  Logger& target = logger();
  if (level < target.level || level == LogLevel::Off) return;
  const spdlog::string_view_t text(message.data(), message.size());
  target.sink.log(spdlog::details::log_msg("lockstep", to_spdlog(level), text));
  target.sink.flush();
}

}  // namespace lockstep
