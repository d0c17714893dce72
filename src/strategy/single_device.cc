#include "lockstep/strategy/single_device.h"

#include <fmt/format.h>

namespace lockstep {

SingleDeviceStrategy::SingleDeviceStrategy(Device device)
    : Strategy({device}), sharding_(SingleDeviceSharding{device}) {}

Sharding SingleDeviceStrategy::state_sharding() const {
  return sharding_;
}

Sharding SingleDeviceStrategy::batch_sharding(std::int64_t /*ndim*/) const {
  return sharding_;
}

Tree SingleDeviceStrategy::place_state(const Tree& state) const {
  return device_put(state, sharding_);
}

Tree SingleDeviceStrategy::place_batch(const Tree& batch) const {
  return device_put(batch, sharding_);
}

std::string SingleDeviceStrategy::to_string() const {
  return fmt::format("SingleDeviceStrategy({})", devices()[0].to_string());
}

}  // namespace lockstep
