#pragma once
#include <chrono>

namespace lockstep::bench {

// Seconds of a monotonic clock.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace lockstep::bench
