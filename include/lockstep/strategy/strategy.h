#pragma once
/// Strategies: where a training state and its batches live.
#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep {

/// Decides where state and batches live. The step itself is the same under every strategy.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// The devices, in the order given.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  /// This process's index in the job; 0 without distributed initialisation.
  [[nodiscard]] std::int64_t process_index() const;
  /// Whether this process owns rank-zero side effects: logs and checkpoints are written only here.
  [[nodiscard]] bool is_global_zero() const { return process_index() == 0; }
  /// The first strategy device that this process can address; RuntimeError if there is none.
  /// Sampler state and explicit keys are prepared here.
  [[nodiscard]] Device root_device() const;

  /// Where the leaves of a state live: one device, or replicated over the mesh.
  [[nodiscard]] virtual Sharding state_sharding() const = 0;
  /// Where a batch leaf of this many dimensions lives.
  [[nodiscard]] virtual Sharding batch_sharding(std::int64_t ndim) const = 0;

  /// Places a training state; the same structure comes back. Never consumes its source.
  [[nodiscard]] virtual Tree place_state(const Tree& state) const = 0;
  /// Places a batch; the same structure comes back. Never consumes its source.
  [[nodiscard]] virtual Tree place_batch(const Tree& batch) const = 0;

  /// "SingleDeviceStrategy(cpu:0)".
  [[nodiscard]] virtual std::string to_string() const = 0;

 protected:
  /// ValueError if `devices` is empty or has a null device.
  explicit Strategy(std::vector<Device> devices);

 private:
  std::vector<Device> devices_;
};

}  // namespace lockstep
