// From devices to host memory.
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "array/strided_copy.h"
#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep {
namespace {

void check_readable(const Array& array) {
  if (!array.is_deleted()) return;
  throw_value_error(
      "Array::to_host",
      fmt::format("the array {} was donated to a step and is gone; read it before the "
                  "step, or keep the step's result",
                  to_string(array.abstract_value())));
}

// The runtime gives signed integers of less than a byte back with zeros above them; on the host
// their sign fills the byte.
void extend_signs(HostTensor& tensor) {
  const int high = 8 - bit_width(tensor.dtype());
  if (high <= 0 || !is_signed_integer(tensor.dtype())) return;
  for (std::byte& byte : tensor.mutable_values<std::byte>()) {
    const auto shifted = static_cast<std::int8_t>(static_cast<std::uint8_t>(byte << high));
    byte = static_cast<std::byte>(shifted >> high);
  }
}

// Reads in flight. Memory that they write to must stay until they are over, errors or not.
struct Read {
  std::size_t offset = 0;
  HostTensor part;
  pjrt::Event done;
};

class Reads {
 public:
  Reads() = default;
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;
  ~Reads() {
    for (const Read& read : list) {
      try {
        read.done.await();
      } catch (const std::exception&) {  // the caller has heard of it
      }
    }
  }
  std::vector<Read> list;
};

// The shard whose elements are [begin, begin + shape) of the global array is written in place where
// its rows lie together there, else by way of memory of its own.
HostTensor gather(const Array& array) {
  const Sharding& sharding = array.sharding();
  const Shape part_shape = sharding.shard_shape(array.shape());
  const std::size_t element_size = byte_size(array.dtype());
  HostTensor result = HostTensor::empty(array.dtype(), array.shape());
  std::byte* const bytes = result.mutable_bytes();
  const std::size_t part_bytes = static_cast<std::size_t>(num_elements(part_shape)) * element_size;
  const bool in_place =
      array_internal::is_row_major(part_shape, result.byte_strides(), element_size);

  Reads reads;
  std::vector<std::size_t> seen;  // offsets: devices that hold the same part are read once
  const std::vector<std::size_t>& positions = sharding.addressable_positions();
  for (std::size_t i = 0; i < positions.size() && part_bytes > 0; ++i) {
    std::size_t offset = 0;
    for (std::size_t k = 0; k < part_shape.size(); ++k) {
      offset += static_cast<std::size_t>(sharding.part_of(positions[i], k) * part_shape[k] *
                                         result.byte_strides()[k]);
    }
    if (std::ranges::find(seen, offset) != seen.end()) continue;
    seen.push_back(offset);
    const pjrt::Buffer& buffer = *array.buffers()[i];
    if (in_place) {
      reads.list.push_back({offset, {}, buffer.copy_to_host(bytes + offset, part_bytes)});
    } else {
      HostTensor part = HostTensor::empty(array.dtype(), part_shape);
      std::byte* const part_data = part.mutable_bytes();
      reads.list.push_back({offset, std::move(part), buffer.copy_to_host(part_data, part_bytes)});
    }
  }
  if (part_bytes > 0 && seen.size() * part_bytes != result.num_bytes()) {
    throw_value_error("Array::to_host",
                      fmt::format("only {} of the {} parts of {} are on devices of this process; "
                                  "read addressable_shards() instead",
                                  seen.size(), result.num_bytes() / part_bytes,
                                  to_string(array.abstract_value())));
  }
  for (const Read& read : reads.list) {
    read.done.await();
    if (in_place) continue;
    array_internal::copy_strided(read.part.data(), read.part.byte_strides(), bytes + read.offset,
                                 result.byte_strides(), part_shape, element_size);
  }
  return result;
}

HostTensor read_whole(const Array& array) {
  HostTensor result = HostTensor::empty(array.dtype(), array.shape());
  const std::size_t size = result.num_bytes();
  if (size > 0) array.buffers()[0]->copy_to_host(result.mutable_bytes(), size).await();
  return result;
}

}  // namespace

void Array::block_until_ready() const {
  if (!is_device()) {
    (void)abstract_value();
    return;
  }
  for (const auto& buffer : buffers()) {
    if (!buffer->is_deleted()) buffer->ready_event().await();
  }
}

HostTensor Array::to_host() const {
  if (is_host()) return static_cast<const HostArray&>(*impl_).tensor();
  if (is_traced()) {
    throw_value_error("Array::to_host",
                      fmt::format("a traced array {} has no value inside a trace; return it from "
                                  "the traced function, or compute with it there",
                                  to_string(abstract_value())));
  }
  const Sharding& where = sharding();
  check_readable(*this);
  if (buffers().empty()) {
    throw_value_error("Array::to_host",
                      fmt::format("no part of {} is on a device of this process ({})",
                                  to_string(abstract_value()), where.to_string()));
  }
  HostTensor result = where.is_fully_replicated() ? read_whole(*this) : gather(*this);
  extend_signs(result);
  return result;
}

Tree device_get(const Tree& tree) {
  return map_tree([](const Array& array) { return Array(array.to_host()); }, tree);
}

}  // namespace lockstep
