#include "data/thread_gang.h"

#include <fmt/format.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "lockstep/base/error.h"

namespace lockstep::data {

std::thread start_quiet_thread(std::function<void()> function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread inherits the mask
  try {
    std::thread thread(std::move(function));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw_runtime_error("BatchLoader", fmt::format("the system gives no further thread: {}; use a "
                                                   "smaller num_threads, or raise the limit on "
                                                   "processes or memory",
                                                   system_error_text(error.code().value())));
  }
}

ThreadGang::ThreadGang(std::int64_t num_threads) {
  try {
    for (std::int64_t index = 1; index < num_threads; ++index) {
      threads_.emplace_back();
      threads_.back() = start_quiet_thread([this] { work(); });
    }
  } catch (...) {
    stop();  // those that were started; there is no destructor for a half-made gang
    throw;
  }
}

ThreadGang::~ThreadGang() {
  stop();
}

void ThreadGang::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::int64_t ThreadGang::num_threads() const {
  return static_cast<std::int64_t>(threads_.size()) + 1;
}

void ThreadGang::take_parts(std::unique_lock<std::mutex>& lock) {
  while (next_part_ < num_parts_) {
    const std::int64_t part = next_part_++;
    const std::function<void(std::int64_t)>& function = *function_;
    lock.unlock();
    function(part);
    lock.lock();
    if (--unfinished_ == 0) done_.notify_all();
  }
}

void ThreadGang::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_stopping_ || next_part_ < num_parts_; });
    if (is_stopping_) return;
    take_parts(lock);
  }
}

void ThreadGang::run(std::int64_t num_parts, const std::function<void(std::int64_t)>& function) {
  std::unique_lock lock(mutex_);
  function_ = &function;
  next_part_ = 0;
  num_parts_ = unfinished_ = num_parts;
  if (num_parts > 1) wake_.notify_all();
  take_parts(lock);
  done_.wait(lock, [this] { return unfinished_ == 0; });
}

}  // namespace lockstep::data
