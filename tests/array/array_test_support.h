#pragma once
// What the tests of array/ share: every element type, tensors to place, looks at single shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"
#include "support/cpu_devices.h"
#include "support/error_text.h"
#include "support/shards.h"

namespace lockstep {

using testing::cpu;
using testing::cpus;
using testing::error_text;
using testing::shard_values;

inline std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (int i = 0; i <= static_cast<int>(DType::Complex128); ++i) {
    dtypes.push_back(static_cast<DType>(i));
  }
  return dtypes;
}

inline std::string dtype_name(const ::testing::TestParamInfo<DType>& info) {
  return std::string(to_string(info.param));
}

// Bit patterns of all sorts, NaNs among them; of bool and narrow types only those that exist.
inline HostTensor patterns(DType dtype, Shape shape) {
  HostTensor tensor = HostTensor::empty(dtype, std::move(shape));
  std::uint32_t state = 12345;
  for (std::byte& byte : tensor.mutable_values<std::byte>()) {
    state = state * 1664525U + 1013904223U;
    auto bits = static_cast<std::uint8_t>(state >> 24);
    if (dtype == DType::Bool) bits &= 1U;
    const int unused = 8 - bit_width(dtype);
    if (unused > 0) {
      const auto shifted = static_cast<std::uint8_t>(bits << unused);
      bits = is_signed_integer(dtype)
                 ? static_cast<std::uint8_t>(static_cast<std::int8_t>(shifted) >> unused)
                 : static_cast<std::uint8_t>(shifted >> unused);
    }
    byte = static_cast<std::byte>(bits);
  }
  return tensor;
}

inline std::vector<float> ramp(std::size_t count, float first = 0) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

inline HostTensor ramp_tensor(Shape shape, float first = 0) {
  const auto count = static_cast<std::size_t>(num_elements(shape));
  return HostTensor::from(ramp(count, first), std::move(shape));
}

inline Mesh mesh_of(std::size_t count) {
  const auto& all = testing::cpu_devices();
  return Mesh({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}, "data");
}

// Where a device buffer lies.
inline const void* memory_of(const Array& array, std::size_t i) {
  const pjrt::Buffer& buffer = *array.buffers()[i];
  auto call = LOCKSTEP_PJRT_CALL(buffer.client().api(), PJRT_Buffer_UnsafePointer);
  call->buffer = buffer.handle();
  call.run();
  return reinterpret_cast<const void*>(call->buffer_pointer);
}

// Every device holds its part of `source`, and the whole comes back.
inline void expect_holds(const Array& array, const HostTensor& source) {
  EXPECT_TRUE(array.to_host().identical(source));
  const std::vector<Shard> shards = array.addressable_shards();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    EXPECT_EQ(shards[i].buffer->device(), shards[i].device);
    EXPECT_TRUE(shard_values(array, i).identical(source.slice(shards[i].index)))
        << shards[i].device.to_string();
  }
}

}  // namespace lockstep
