#pragma once
/// Events: when asynchronous work is done.
#include <functional>
#include <memory>
#include <string>

struct PJRT_Api;
struct PJRT_Event;

namespace lockstep::pjrt {

/// Owns a PJRT_Event. Null events are ready at once.
class Event {
 public:
  Event() = default;
  Event(const PJRT_Api* api, PJRT_Event* event) : api_(api), event_(event) {}
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  [[nodiscard]] bool is_null() const { return event_ == nullptr; }
  [[nodiscard]] bool is_ready() const;
  /// Blocks until ready; RuntimeError with the runtime's text where the work failed.
  void await() const;
  /// Calls back once when ready, with an empty text on success, from any thread.
  void on_ready(std::function<void(std::string error)> callback) const;

 private:
  const PJRT_Api* api_ = nullptr;
  PJRT_Event* event_ = nullptr;
};

}  // namespace lockstep::pjrt
