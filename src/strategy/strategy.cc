#include "lockstep/strategy/strategy.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/runtime.h"

namespace lockstep {

Strategy::Strategy(std::vector<Device> devices) : devices_(std::move(devices)) {
  if (devices_.empty()) {
    throw_value_error("Strategy", "there are no devices; a strategy needs at least one");
  }
  const auto null = std::ranges::find_if(devices_, &Device::is_null);
  if (null != devices_.end()) {
    throw_value_error("Strategy",
                      fmt::format("device {} of {} is null; take devices from devices()",
                                  null - devices_.begin(), devices_.size()));
  }
}

std::int64_t Strategy::process_index() const {
  return lockstep::process_index();
}

Device Strategy::root_device() const {
  const auto found = std::ranges::find_if(devices_, &Device::is_addressable);
  if (found != devices_.end()) return *found;
  throw_runtime_error("Strategy::root_device",
                      fmt::format("none of the strategy's {} devices belongs to this process "
                                  "(process {}); every process must own at least one of them",
                                  devices_.size(), process_index()));
}

}  // namespace lockstep
