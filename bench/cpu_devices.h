#pragma once
#include "lockstep/pjrt/runtime.h"

namespace lockstep::bench {

// This process has two CPU devices; settled before the first benchmark starts them.
inline void use_two_cpu_devices() {
  static const bool is_set = (set_cpu_device_count(2), true);
  static_cast<void>(is_set);
}

}  // namespace lockstep::bench
