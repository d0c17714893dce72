#pragma once
// SIGINT during a fit: the first asks the loop to stop, the second ends the process at once.
#include <csignal>

namespace lockstep {

// Catches SIGINT while it lives and gives the former handler back. One at a time in a process: an
// inner one (a fit inside a callback) changes nothing.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Whether SIGINT has come since the outermost guard was made.
  [[nodiscard]] static bool interrupted();

 private:
  bool is_outermost_ = false;
  struct sigaction former_ {};
};

}  // namespace lockstep
