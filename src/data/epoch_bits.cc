#include "lockstep/array/host_tensor.h"
#include "lockstep/data/sampler.h"
#include "lockstep/trace/random.h"

namespace lockstep::data {

std::vector<std::uint32_t> threefry_epoch_bits(const Array& key, std::int64_t epoch,
                                               std::int64_t count) {
  const random::Key epoch_key =
      random::fold_in(random::Key(key), HostTensor::scalar(static_cast<std::uint32_t>(epoch)));
  return random::bits(epoch_key, {count}).to_vector<std::uint32_t>();
}

}  // namespace lockstep::data
