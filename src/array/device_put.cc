// From host memory or devices to devices.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep {
namespace {

using Buffers = std::vector<std::shared_ptr<pjrt::Buffer>>;

// A device's part of `tensor` as a device buffer.
std::shared_ptr<pjrt::Buffer> put_part(const HostTensor& tensor, const Sharding& sharding,
                                       std::size_t position, std::span<const std::int64_t> shape,
                                       bool is_contiguous) {
  const Device& device = sharding.devices()[position];
  const std::byte* data = tensor.data();
  const bool has_elements = tensor.data() != nullptr && tensor.size() > 0;
  for (std::size_t i = 0; has_elements && i < sharding.spec().size(); ++i) {
    data += sharding.part_of(position, i) * shape[i] * tensor.byte_strides()[i];
  }
  const pjrt::HostBuffer host{
      .data = data,
      .element_type = pjrt_element_type(tensor.dtype()),
      .dimensions = shape,
      .byte_strides = is_contiguous ? std::span<const std::int64_t>() : tensor.byte_strides()};
  pjrt::Client& client = device.client();
  if (!tensor.is_owned()) return client.buffer_from_host(host, device);
  return client.buffer_from_host_zero_copy(host, device, tensor.owner());
}

// A part is row-major if the tensor is and at most its outermost dimension that is longer than one
// is split; the parts' own strides tell.
bool parts_are_contiguous(const HostTensor& tensor, const Shape& part_shape) {
  auto expected = static_cast<std::int64_t>(byte_size(tensor.dtype()));
  for (std::size_t i = part_shape.size(); i-- > 0;) {
    if (part_shape[i] == 0) return true;
    if (part_shape[i] == 1) continue;
    if (tensor.byte_strides()[i] != expected) return false;
    expected *= part_shape[i];
  }
  return true;
}

// Plugins that are older than a type take its number for something else.
void check_plugin_has(DType dtype, const Device& device) {
  constexpr int first_minor_version = 115;  // the oldest plugin known to have them
  switch (dtype) {
    case DType::Int1:
    case DType::UInt1:
    case DType::Float6E2M3FN:
    case DType::Float6E3M2FN: break;
    default: return;
  }
  const pjrt::Plugin& plugin = device.client().plugin();
  if (plugin.minor_version() >= first_minor_version) return;
  throw_runtime_error(
      "device_put",
      fmt::format("{} needs a plugin of PJRT API version 0.{}; {} has 0.{}. Use a "
                  "newer plugin, or cast the array",
                  to_string(dtype), first_minor_version, plugin.path(), plugin.minor_version()));
}

Array put_host(const HostTensor& tensor, bool weak_type, const Sharding& sharding) {
  check_plugin_has(tensor.dtype(), sharding.devices()[0]);
  const Shape part_shape = sharding.shard_shape(tensor.shape());
  const bool is_contiguous = parts_are_contiguous(tensor, part_shape);
  const std::vector<std::size_t>& positions = sharding.addressable_positions();
  Buffers buffers;
  buffers.reserve(positions.size());
  for (const std::size_t position : positions) {
    buffers.push_back(put_part(tensor, sharding, position, part_shape, is_contiguous));
  }
  return Array::from_buffers({tensor.shape(), tensor.dtype(), weak_type}, sharding,
                             std::move(buffers));
}

// The position among `source`'s addressable devices of one that holds the wanted part, preferring
// the device itself, then one of its client.
std::optional<std::size_t> holder_of(const Array& array, const Sharding& target,
                                     std::size_t position) {
  const Sharding& source = array.sharding();
  const std::size_t splits = std::max(source.spec().size(), target.spec().size());
  for (std::size_t i = 0; i < splits; ++i) {
    if (source.num_parts(i) != target.num_parts(i)) return std::nullopt;
  }
  const Device& device = target.devices()[position];
  std::optional<std::size_t> best;
  int best_rank = -1;
  for (std::size_t k = 0; k < source.addressable_positions().size(); ++k) {
    const std::size_t candidate = source.addressable_positions()[k];
    bool same_part = true;
    for (std::size_t i = 0; same_part && i < splits; ++i) {
      same_part = source.part_of(candidate, i) == target.part_of(position, i);
    }
    if (!same_part) continue;
    const Device& other = source.devices()[candidate];
    const int rank = other == device ? 2 : &other.client() == &device.client() ? 1 : 0;
    if (rank > best_rank) {
      best = k;
      best_rank = rank;
    }
  }
  return best;
}

// New buffers throughout: a step that takes the result by donation must leave the source alone.
Array put_device(const Array& array, const Sharding& sharding) {
  if (array.is_deleted()) {
    throw_value_error(
        "device_put",
        fmt::format("the array {} was donated to a step and is gone; place the step's "
                    "result instead",
                    to_string(array.abstract_value())));
  }
  const Shape part_shape = sharding.shard_shape(array.shape());
  std::optional<HostTensor> whole;
  Buffers buffers;
  for (const std::size_t position : sharding.addressable_positions()) {
    if (const auto holder = holder_of(array, sharding, position)) {
      buffers.push_back(array.buffers()[*holder]->copy_to_device(sharding.devices()[position]));
      continue;
    }
    if (!whole) whole = array.to_host();
    buffers.push_back(
        put_part(*whole, sharding, position, part_shape, parts_are_contiguous(*whole, part_shape)));
  }
  return Array::from_buffers(array.abstract_value(), sharding, std::move(buffers));
}

// Paths are worked out only where one is needed.
std::string name_of_leaf(const Tree& tree, std::size_t index) {
  const KeyPath path = structure_of(tree).leaf_paths()[index];
  return path.empty() ? "the leaf" : fmt::format("leaf '{}'", to_string(path));
}

template <class Put>
Tree put_leaves(const Tree& tree, Put put) {
  std::size_t index = 0;
  const auto next = [&](const Array& leaf) {
    Array placed = put(leaf);
    ++index;
    return placed;
  };
  try {
    return map_tree(next, tree);
  } catch (const ValueError& error) {
    throw ValueError(fmt::format("{} ({})", error.what(), name_of_leaf(tree, index)));
  } catch (const RuntimeError& error) {
    throw RuntimeError(fmt::format("{} ({})", error.what(), name_of_leaf(tree, index)));
  }
}

}  // namespace

Array device_put(const Array& array, const Sharding& sharding) {
  if (array.is_host()) {
    return put_host(static_cast<const HostArray&>(*array.impl()).tensor(), array.weak_type(),
                    sharding);
  }
  if (array.is_device()) {
    if (array.sharding() == sharding) return array.with_commitment(true);
    return put_device(array, sharding);
  }
  throw_value_error(
      "device_put",
      fmt::format("a traced array {} has no value inside a trace and cannot be placed",
                  to_string(array.abstract_value())));
}

Tree device_put(const Tree& tree, const Sharding& sharding) {
  return put_leaves(tree, [&sharding](const Array& leaf) { return device_put(leaf, sharding); });
}

Tree device_put(const Tree& tree, const std::function<Sharding(const Array& leaf)>& sharding_of) {
  return put_leaves(
      tree, [&sharding_of](const Array& leaf) { return device_put(leaf, sharding_of(leaf)); });
}

}  // namespace lockstep
