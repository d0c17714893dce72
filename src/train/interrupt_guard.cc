#include "train/interrupt_guard.h"

#include <atomic>

#include "lockstep/train/progress.h"

namespace lockstep {
namespace {

// A signal handler has no other way to reach the loop.
std::atomic<bool> guarded{false};
std::atomic<bool> interrupt_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free,
              "signal handlers may touch lock-free atomics only");

void on_interrupt(int number) {
  if (!interrupt_seen.exchange(true)) return;
  end_open_progress_line();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guarded.exchange(true)) return;
  is_outermost_ = true;
  interrupt_seen = false;
  sigaction(SIGINT, nullptr, &former_);
  // A program that ignores SIGINT (as under nohup) goes on ignoring it.
  if (former_.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  if (!is_outermost_) return;
  sigaction(SIGINT, &former_, nullptr);
  guarded = false;
}

bool InterruptGuard::interrupted() {
  return interrupt_seen;
}

}  // namespace lockstep
