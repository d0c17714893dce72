#pragma once
/// SingleDeviceStrategy: everything on one device.
#include "lockstep/strategy/strategy.h"

namespace lockstep {

/// Puts the whole state and every batch on one explicit CPU, GPU or TPU device.
class SingleDeviceStrategy final : public Strategy {
 public:
  /// ValueError for a null device.
  explicit SingleDeviceStrategy(Device device);
  [[nodiscard]] Sharding state_sharding() const override;
  [[nodiscard]] Sharding batch_sharding(std::int64_t ndim) const override;
  [[nodiscard]] Tree place_state(const Tree& state) const override;
  [[nodiscard]] Tree place_batch(const Tree& batch) const override;
  [[nodiscard]] std::string to_string() const override;

 private:
  Sharding sharding_;
};

}  // namespace lockstep
