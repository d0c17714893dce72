#pragma once
/// Devices: what the runtime shows of its accelerators.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

struct PJRT_Device;

namespace lockstep::pjrt {
class Client;
struct DeviceDescription;
}  // namespace lockstep::pjrt

namespace lockstep {

/// Memory in use on a device, in bytes; what the plugin does not report is absent.
struct MemoryStats {
  std::int64_t bytes_in_use = 0;
  std::optional<std::int64_t> peak_bytes_in_use = {};
  std::optional<std::int64_t> bytes_limit = {};
};

/// A PJRT device. A cheap value; two are equal if they are the same device of the same client.
/// It does not keep its client alive: clients made by the runtime live until the process ends.
class Device {
 public:
  Device() = default;  ///< No device.
  explicit Device(const pjrt::DeviceDescription* description) : description_(description) {}

  [[nodiscard]] bool is_null() const { return description_ == nullptr; }
  [[nodiscard]] std::int64_t id() const;              ///< global id, the same in every process
  [[nodiscard]] const std::string& kind() const;      ///< e.g. "NVIDIA H200", "cpu"
  [[nodiscard]] const std::string& platform() const;  ///< "cpu", "gpu" or "tpu"
  [[nodiscard]] const std::string& platform_name()
      const;                                         ///< the plugin's word: "cpu", "cuda", ...
  [[nodiscard]] std::int64_t process_index() const;  ///< of the process that owns it
  [[nodiscard]] bool is_addressable() const;         ///< owned by this process
  [[nodiscard]] std::int64_t local_hardware_id() const;
  [[nodiscard]] std::string to_string() const;  ///< "cpu:0"

  [[nodiscard]] pjrt::Client& client() const;
  [[nodiscard]] PJRT_Device* handle() const;  ///< null where not addressable through one
  /// Nothing where the plugin does not report it.
  [[nodiscard]] std::optional<MemoryStats> memory_stats() const;

  [[nodiscard]] bool operator==(const Device&) const = default;

 private:
  const pjrt::DeviceDescription* description_ = nullptr;
};

}  // namespace lockstep

template <>
struct std::hash<lockstep::Device> {
  std::size_t operator()(const lockstep::Device& device) const noexcept {
    return device.is_null() ? 0 : std::hash<std::int64_t>()(device.id());
  }
};
