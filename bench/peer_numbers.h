#pragma once
// The random numbers of the peers' scripts (splitmix64), so that every program trains the same
// model from the same weights.
#include <cstdint>
#include <vector>

#include "lockstep/array/host_tensor.h"

namespace lockstep::bench {

// float32 in [low, high), from the top 24 bits of each word of a stream.
HostTensor uniform(std::uint64_t seed, std::uint64_t stream, const Shape& shape, float low,
                   float high);

// Glorot-uniform weights of a (fan_in, fan_out) matrix.
HostTensor glorot(std::uint64_t seed, std::uint64_t stream, std::int64_t fan_in,
                  std::int64_t fan_out);

}  // namespace lockstep::bench
