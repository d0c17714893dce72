#pragma once
/// DataParallelStrategy: states replicated, batches split over several devices.
#include <string>
#include <vector>

#include "lockstep/strategy/strategy.h"

namespace lockstep {

/// Synchronous data parallelism over a one-dimensional mesh: states are replicated, batches split
/// along their leading dimension.
class DataParallelStrategy final : public Strategy {
 public:
  /// ValueError for fewer than two devices (use SingleDeviceStrategy) or a repeated device, naming
  /// it.
  explicit DataParallelStrategy(std::vector<Device> devices, std::string axis_name = "data");

  /// The global mesh, whose only axis is axis_name.
  [[nodiscard]] const Mesh& mesh() const { return mesh_; }

  [[nodiscard]] Sharding state_sharding() const override;
  /// Split along the leading dimension; scalars are replicated.
  [[nodiscard]] Sharding batch_sharding(std::int64_t ndim) const override;
  [[nodiscard]] Tree place_state(const Tree& state) const override;
  /// ValueError naming the leaf by its path, its shape, and the number its leading dimension must
  /// be divisible by; nothing is placed then.
  [[nodiscard]] Tree place_batch(const Tree& batch) const override;
  [[nodiscard]] std::string to_string() const override;

 private:
  Mesh mesh_;
  Sharding replicated_;
  Sharding split_;
};

}  // namespace lockstep
