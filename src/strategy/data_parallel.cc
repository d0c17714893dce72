#include "lockstep/strategy/data_parallel.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep {
namespace {

std::vector<Device> checked_devices(std::vector<Device> devices) {
  if (devices.size() < 2) {
    throw_value_error("DataParallelStrategy",
                      fmt::format("{} device(s) were given, at least two are needed; for one, use "
                                  "SingleDeviceStrategy",
                                  devices.size()));
  }
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    if (device->is_null() || std::find(devices.begin(), device, *device) == device) continue;
    throw_value_error("DataParallelStrategy",
                      fmt::format("device {} is listed twice; each device may be listed once",
                                  device->to_string()));
  }
  return devices;
}

bool divides(const Array& leaf, std::int64_t count) {
  return leaf.is_null() || leaf.ndim() == 0 || leaf.shape()[0] % count == 0;
}

[[noreturn]] void throw_indivisible(const Tree& batch, std::int64_t count) {
  for_each_leaf(batch, [count](const KeyPath& path, const Array& leaf) {
    if (divides(leaf, count)) return;
    const std::string name =
        path.empty() ? "the batch" : fmt::format("batch leaf '{}'", to_string(path));
    throw_value_error("DataParallelStrategy::place_batch",
                      fmt::format("{} has shape {}: its leading dimension {} must be divisible by "
                                  "{}, the number of devices; nothing was placed",
                                  name, to_string(leaf.shape()), leaf.shape()[0], count));
  });
  throw_value_error("DataParallelStrategy::place_batch", "the batch cannot be split");
}

}  // namespace

DataParallelStrategy::DataParallelStrategy(std::vector<Device> devices, std::string axis_name)
    : Strategy(checked_devices(std::move(devices))),
      mesh_(this->devices(), std::move(axis_name)),
      replicated_(NamedSharding{mesh_, {}}),
      split_(NamedSharding{mesh_, {{mesh_.axis_names()[0]}}}) {}

Sharding DataParallelStrategy::state_sharding() const {
  return replicated_;
}

Sharding DataParallelStrategy::batch_sharding(std::int64_t ndim) const {
  return ndim == 0 ? replicated_ : split_;
}

Tree DataParallelStrategy::place_state(const Tree& state) const {
  return device_put(state, replicated_);
}

Tree DataParallelStrategy::place_batch(const Tree& batch) const {
  const auto count = static_cast<std::int64_t>(devices().size());
  if (!all_leaves([count](const Array& leaf) { return divides(leaf, count); }, batch)) {
    throw_indivisible(batch, count);
  }
  return device_put(batch, [this](const Array& leaf) { return batch_sharding(leaf.ndim()); });
}

std::string DataParallelStrategy::to_string() const {
  std::string names;
  for (const Device& device : devices()) {
    names += (names.empty() ? "" : ", ") + device.to_string();
  }
  return fmt::format("DataParallelStrategy({}; axis '{}')", names, mesh_.axis_names()[0]);
}

}  // namespace lockstep
