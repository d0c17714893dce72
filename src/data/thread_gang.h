#pragma once
/// A few threads that share one loop.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep::data {

/// Runs loops over parts on its threads and the caller's. Made of the standard library's locks, so
/// that ThreadSanitizer sees all of it. One loop at a time.
class ThreadGang {
 public:
  /// `num_threads` of one or less: the caller's alone. RuntimeError where the system gives no more.
  explicit ThreadGang(std::int64_t num_threads);
  ~ThreadGang();
  ThreadGang(const ThreadGang&) = delete;
  ThreadGang& operator=(const ThreadGang&) = delete;

  [[nodiscard]] std::int64_t num_threads() const;
  /// Calls `function(part)` for parts 0 .. num_parts - 1, returns when all are done. `function`
  /// must not throw.
  void run(std::int64_t num_parts, const std::function<void(std::int64_t)>& function);

 private:
  void work();
  void stop();
  void take_parts(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(std::int64_t)>* function_ = nullptr;
  std::int64_t next_part_ = 0;
  std::int64_t num_parts_ = 0;
  std::int64_t unfinished_ = 0;
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

/// Starts a thread that takes no signals: they stay with the threads that expect them. RuntimeError
/// where the system gives none.
[[nodiscard]] std::thread start_quiet_thread(std::function<void()> function);

}  // namespace lockstep::data
