#include "lockstep/base/error.h"

#include <fmt/format.h>

#include <system_error>

namespace lockstep {

void throw_value_error(std::string_view where, std::string_view what) {
  throw ValueError(fmt::format("[{}] {}", where, what));
}

void throw_runtime_error(std::string_view where, std::string_view what) {
  throw RuntimeError(fmt::format("[{}] {}", where, what));
}

std::string system_error_text(int error_number) {
  return fmt::format("{} (errno {})", std::generic_category().message(error_number), error_number);
}

}  // namespace lockstep
