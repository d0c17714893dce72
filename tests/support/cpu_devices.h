#pragma once
// The CPU devices of a test's process.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lockstep/pjrt/runtime.h"

namespace lockstep::testing {

inline constexpr std::size_t num_cpu_devices = 8;

// All eight.
inline const std::vector<Device>& cpu_devices() {
  static const std::vector<Device>& all = [&]() -> const std::vector<Device>& {
    set_cpu_device_count(num_cpu_devices);
    return devices("cpu");
  }();
  return all;
}

inline Device cpu(std::size_t index) {
  return cpu_devices().at(index);
}

// Gives a test program so many CPU devices before any of its tests, as the number cannot be set
// after the first use: for programs whose tests ask the runtime for devices themselves.
inline const ::testing::Environment* use_cpu_devices(std::int64_t count) {
  class Environment : public ::testing::Environment {
   public:
    explicit Environment(std::int64_t devices) : count_(devices) {}
    void SetUp() override { set_cpu_device_count(count_); }

   private:
    std::int64_t count_;
  };
  return ::testing::AddGlobalTestEnvironment(new Environment(count));  // which takes it over
}

// Those of the given indices, in that order.
inline std::vector<Device> cpus(const std::vector<std::size_t>& indices) {
  std::vector<Device> selected;
  for (const std::size_t index : indices) selected.push_back(cpu(index));
  return selected;
}

}  // namespace lockstep::testing
