#include "lockstep/strategy/create_strategy.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/runtime.h"
#include "lockstep/strategy/data_parallel.h"
#include "lockstep/strategy/single_device.h"

namespace lockstep {
namespace {

using Indices = std::vector<std::int64_t>;

constexpr const char* where = "create_strategy";

// What is wrong whatever devices there are, before a backend is started for it.
void check_request(const DeviceRequest& request) {
  if (const auto* word = std::get_if<std::string>(&request.value()); word && *word != "auto") {
    throw_value_error(where, fmt::format("devices is '{}'; expected a positive count, a list of "
                                         "indices, or 'auto'",
                                         *word));
  }
  const auto* indices = std::get_if<Indices>(&request.value());
  if (indices == nullptr) return;
  if (indices->empty()) {
    throw_value_error(where,
                      "the list of device indices is empty; name at least one index, or ask "
                      "for a count or 'auto'");
  }
  for (auto index = indices->begin(); index != indices->end(); ++index) {
    if (std::find(indices->begin(), index, *index) != index) {
      throw_value_error(where,
                        fmt::format("device index {} is repeated; each may be named once", *index));
    }
  }
}

std::vector<Device> select(const std::vector<Device>& available, const std::string& platform,
                           const DeviceRequest& request) {
  const auto count = static_cast<std::int64_t>(available.size());
  if (const auto* wanted = std::get_if<std::int64_t>(&request.value())) {
    if (*wanted < 1 || *wanted > count) {
      throw_value_error(where,
                        fmt::format("requested {} {} device(s), available {}; ask for 1 to {}, "
                                    "for a list of indices, or for 'auto'",
                                    *wanted, platform, count, count));
    }
    return {available.begin(), available.begin() + *wanted};
  }
  const auto* indices = std::get_if<Indices>(&request.value());
  if (indices == nullptr) return available;
  std::vector<Device> selected;
  for (const std::int64_t index : *indices) {
    if (index < 0 || index >= count) {
      throw_value_error(where, fmt::format("device index {} is out of range 0..{} of the {} {} "
                                           "device(s)",
                                           index, count - 1, count, platform));
    }
    selected.push_back(available[static_cast<std::size_t>(index)]);
  }
  return selected;
}

}  // namespace

std::shared_ptr<Strategy> create_strategy(const std::string& accelerator,
                                          const DeviceRequest& devices) {
  check_request(devices);
  const std::vector<Device>& available = lockstep::devices(accelerator);
  if (available.empty()) {
    throw_runtime_error(where, fmt::format("no {} devices are visible; the backend was loaded but "
                                           "shows none",
                                           accelerator));
  }
  std::vector<Device> selected = select(available, available[0].platform(), devices);
  if (selected.size() == 1) return std::make_shared<SingleDeviceStrategy>(selected[0]);
  return std::make_shared<DataParallelStrategy>(std::move(selected));
}

}  // namespace lockstep
