#include "lockstep/pjrt/event.h"

#include <utility>

#include "pjrt/api_call.h"

namespace lockstep::pjrt {
namespace {

struct Callback {
  const PJRT_Api* api;
  std::function<void(std::string error)> function;
};

void invoke_callback(PJRT_Error* error, void* user_arg) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(user_arg));
  const std::optional<ApiError> failure = take_error(callback->api, error);
  callback->function(failure ? failure->message : std::string());
}

}  // namespace

Event::Event(Event&& other) noexcept
    : api_(other.api_), event_(std::exchange(other.event_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(event_, other.event_);
  return *this;
}

Event::~Event() {
  if (event_ == nullptr) return;
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_Event_Destroy);
  call->event = event_;
  std::ignore = call.try_run();
}

bool Event::is_ready() const {
  if (event_ == nullptr) return true;
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_Event_IsReady);
  call->event = event_;
  call.run();
  return call->is_ready;
}

void Event::await() const {
  if (event_ == nullptr) return;
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_Event_Await);
  call->event = event_;
  call.run();
}

void Event::on_ready(std::function<void(std::string error)> callback) const {
  if (event_ == nullptr) {
    callback({});
    return;
  }
  auto owned = std::make_unique<Callback>(Callback{api_, std::move(callback)});
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_Event_OnReady);
  call->event = event_;
  call->callback = invoke_callback;
  call->user_arg = owned.get();
  call.run();
  std::ignore = owned.release();
}

}  // namespace lockstep::pjrt
