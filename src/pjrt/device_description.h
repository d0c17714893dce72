#pragma once
// What a Device points to; owned by its Client.
#include <cstdint>
#include <string>

#include "lockstep/pjrt/device.h"

namespace lockstep::pjrt {

struct DeviceDescription {
  Client* client = nullptr;
  PJRT_Device* handle = nullptr;
  std::int64_t id = 0;
  std::int64_t process_index = 0;
  std::int64_t local_hardware_id = -1;
  bool addressable = false;
  std::string kind;
  std::string platform;
  std::string platform_name;
};

// "gpu" for the platform names of the GPU plugins, else the name itself.
[[nodiscard]] std::string platform_of(const std::string& platform_name);

}  // namespace lockstep::pjrt
