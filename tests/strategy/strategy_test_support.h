#pragma once
// What the tests of strategy/ share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "lockstep/strategy/create_strategy.h"
#include "lockstep/strategy/data_parallel.h"
#include "lockstep/strategy/single_device.h"
#include "lockstep/tree/algorithms.h"
#include "support/cpu_devices.h"
#include "support/error_text.h"
#include "support/shards.h"

namespace lockstep {

using testing::cpu;
using testing::cpus;
using testing::error_text;
using testing::shard_values;

// 0, 1, 2, ... as floats.
inline HostTensor ramp_tensor(const Shape& shape) {
  HostTensor tensor = HostTensor::empty(DType::Float32, shape);
  float next = 0;
  for (float& value : tensor.mutable_values<float>()) value = next++;
  return tensor;
}

// Every device of `devices`, in that order, holds its part of `source`, and the whole comes back.
inline void expect_placed(const Array& array, const HostTensor& source,
                          const std::vector<Device>& devices) {
  EXPECT_TRUE(array.to_host().identical(source));
  const std::vector<Shard> shards = array.addressable_shards();
  ASSERT_EQ(shards.size(), devices.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    EXPECT_EQ(shards[i].device, devices[i]);
    EXPECT_EQ(shards[i].buffer->device(), devices[i]);
    EXPECT_TRUE(shard_values(array, i).identical(source.slice(shards[i].index)))
        << devices[i].to_string();
  }
}

// The same, every device with the whole.
inline void expect_replicated(const Array& array, const HostTensor& source,
                              const std::vector<Device>& devices) {
  EXPECT_TRUE(array.sharding().is_fully_replicated());
  expect_placed(array, source, devices);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_TRUE(shard_values(array, i).identical(source)) << devices[i].to_string();
  }
}

}  // namespace lockstep
