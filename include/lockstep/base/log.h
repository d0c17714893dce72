#pragma once
/// Messages for a person, on standard error. Never a result: those go to standard output.
#include <string_view>

namespace lockstep {

/// Severity of a message, least first.
enum class LogLevel { Debug, Info, Warning, Error, Off };

/// Shows messages of `level` and above. The first use of the logger takes it from
/// LOCKSTEP_LOG_LEVEL (debug, info, warning, error, off; default info).
void set_log_level(LogLevel level);

/// The level in force.
[[nodiscard]] LogLevel log_level();

/// Writes one message to standard error, whole lines at a time, from any thread.
void log(LogLevel level, std::string_view message);

inline void log_debug(std::string_view message) {
  log(LogLevel::Debug, message);
}
inline void log_info(std::string_view message) {
  log(LogLevel::Info, message);
}
inline void log_warning(std::string_view message) {
  log(LogLevel::Warning, message);
}
inline void log_error(std::string_view message) {
  log(LogLevel::Error, message);
}

}  // namespace lockstep
