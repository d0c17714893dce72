#include "lockstep/pjrt/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"
#include "pjrt/device_description.h"

namespace lockstep {
namespace pjrt {

std::string platform_of(const std::string& platform_name) {
  std::string name = platform_name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 6> gpu_names{"cuda", "rocm", "oneapi",
                                                      "sycl", "gpu",  "metal"};
  const bool is_gpu = std::find(gpu_names.begin(), gpu_names.end(), name) != gpu_names.end();
  if (is_gpu) return "gpu";
  return name == "host" ? "cpu" : name;
}

}  // namespace pjrt

namespace {

const pjrt::DeviceDescription& described(const pjrt::DeviceDescription* description) {
  if (description == nullptr) {
    throw_value_error("Device", "this is no device; take one from devices()");
  }
  return *description;
}

}  // namespace

std::int64_t Device::id() const {
  return described(description_).id;
}
const std::string& Device::kind() const {
  return described(description_).kind;
}
const std::string& Device::platform() const {
  return described(description_).platform;
}
const std::string& Device::platform_name() const {
  return described(description_).platform_name;
}
std::int64_t Device::process_index() const {
  return described(description_).process_index;
}
bool Device::is_addressable() const {
  return described(description_).addressable;
}
std::int64_t Device::local_hardware_id() const {
  return described(description_).local_hardware_id;
}
pjrt::Client& Device::client() const {
  return *described(description_).client;
}

std::string Device::to_string() const {
  if (is_null()) return "no device";
  return fmt::format("{}:{}", platform(), id());
}

PJRT_Device* Device::handle() const {
  const pjrt::DeviceDescription& description = described(description_);
  return description.addressable ? description.handle : nullptr;
}

std::optional<MemoryStats> Device::memory_stats() const {
  const pjrt::DeviceDescription& description = described(description_);
  if (!description.addressable) return std::nullopt;
  auto call = LOCKSTEP_PJRT_CALL(description.client->api(), PJRT_Device_MemoryStats);
  call->device = description.handle;
  if (call.try_run()) return std::nullopt;
  MemoryStats stats{.bytes_in_use = call->bytes_in_use};
  if (call->peak_bytes_in_use_is_set) stats.peak_bytes_in_use = call->peak_bytes_in_use;
  if (call->bytes_limit_is_set) stats.bytes_limit = call->bytes_limit;
  return stats;
}

}  // namespace lockstep
