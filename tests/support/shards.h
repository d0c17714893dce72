#pragma once
#include <cstddef>

#include "lockstep/array/array.h"

namespace lockstep::testing {

// What the device at position `i` of the array's sharding holds.
inline HostTensor shard_values(const Array& array, std::size_t i) {
  const Shard shard = array.addressable_shards().at(i);
  const auto dimensions = shard.buffer->dimensions();
  return Array::from_buffers({Shape(dimensions.begin(), dimensions.end()), array.dtype()},
                             SingleDeviceSharding{shard.device}, {shard.buffer})
      .to_host();
}

}  // namespace lockstep::testing
