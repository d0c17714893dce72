#pragma once
#include <chrono>

namespace lockstep {

// Seconds of a monotonic clock.
[[nodiscard]] inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace lockstep
