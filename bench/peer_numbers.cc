#include "peer_numbers.h"

#include <cmath>

namespace lockstep::bench {
namespace {

constexpr std::uint64_t golden = 0x9E3779B97F4A7C15ULL;

// The output function of splitmix64 (Steele, Lea and Flood 2014).
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

}  // namespace

HostTensor uniform(std::uint64_t seed, std::uint64_t stream, const Shape& shape, float low,
                   float high) {
  const std::uint64_t base = mix(mix(seed) + stream);
  std::vector<float> values(static_cast<std::size_t>(num_elements(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t word = mix(base + (i + 1) * golden);
    values[i] = low + (high - low) * (static_cast<float>(word >> 40U) * 0x1p-24F);
  }
  return HostTensor::from(values, shape);
}

HostTensor glorot(std::uint64_t seed, std::uint64_t stream, std::int64_t fan_in,
                  std::int64_t fan_out) {
  const auto bound = static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)));
  return uniform(seed, stream, {fan_in, fan_out}, -bound, bound);
}

}  // namespace lockstep::bench
