#include "train/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/base/environment.h"
#include "lockstep/base/number_text.h"

namespace lockstep {

bool is_capable_terminal(int file_descriptor) {
  const std::string term = environment_variable("TERM").value_or("");
  return ::isatty(file_descriptor) == 1 && !term.empty() && term != "dumb";
}

bool colours_are_wanted() {
  return environment_variable("NO_COLOR").value_or("").empty();
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment_variable(name).value_or("");
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char character) {
      return static_cast<char>(std::tolower(character));
    });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

bool is_continuous_integration() {
  const std::string value = environment_variable("CI").value_or("");
  return !value.empty() && value != "false" && value != "0";
}

std::size_t terminal_columns(int file_descriptor) {
  winsize window{};
  if (::ioctl(file_descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    return window.ws_col;
  }
  const std::optional<std::int64_t> columns =
      parse_integer(environment_variable("COLUMNS").value_or(""));
  return columns && *columns > 0 ? static_cast<std::size_t>(*columns) : 80;
}

void write_ignoring_errors(int file_descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(file_descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace lockstep
