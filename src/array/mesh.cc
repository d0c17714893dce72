#include <fmt/format.h>

#include <algorithm>

#include "lockstep/array/sharding.h"
#include "lockstep/base/error.h"

namespace lockstep {

Mesh::Mesh(std::vector<Device> devices, std::vector<std::string> axis_names, Shape axis_sizes)
    : devices_(std::move(devices)),
      axis_names_(std::move(axis_names)),
      axis_sizes_(std::move(axis_sizes)) {
  if (axis_names_.size() != axis_sizes_.size()) {
    throw_value_error("Mesh", fmt::format("{} axis names for {} axis sizes; give one name each",
                                          axis_names_.size(), axis_sizes_.size()));
  }
  for (std::size_t i = 0; i < axis_names_.size(); ++i) {
    if (axis_names_[i].empty()) {
      throw_value_error("Mesh", fmt::format("axis {} has no name; name every axis", i));
    }
    const auto begin = axis_names_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(i);
    if (std::find(begin, end, axis_names_[i]) != end) {
      throw_value_error("Mesh", fmt::format("the axis name '{}' is used twice; names must differ",
                                            axis_names_[i]));
    }
  }
  if (num_elements(axis_sizes_) != static_cast<std::int64_t>(devices_.size())) {
    throw_value_error("Mesh", fmt::format("axis sizes {} need {} devices, got {}",
                                          lockstep::to_string(axis_sizes_),
                                          num_elements(axis_sizes_), devices_.size()));
  }
  if (devices_.empty()) throw_value_error("Mesh", "there are no devices; at least one is needed");
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].is_null()) {
      throw_value_error("Mesh", fmt::format("device {} of the list is null", i));
    }
    const auto begin = devices_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(i);
    if (std::find(begin, end, devices_[i]) != end) {
      throw_value_error("Mesh", fmt::format("device {} is listed twice; each may be listed once",
                                            devices_[i].to_string()));
    }
  }
}

Mesh::Mesh(std::vector<Device> devices, std::string axis_name) {
  const auto size = static_cast<std::int64_t>(devices.size());
  *this = Mesh(std::move(devices), std::vector<std::string>{std::move(axis_name)}, Shape{size});
}

std::int64_t Mesh::axis_size(std::string_view name) const {
  const auto found = std::ranges::find(axis_names_, name);
  if (found == axis_names_.end()) {
    throw_value_error("Mesh", fmt::format("there is no axis '{}' in {}", name, to_string()));
  }
  return axis_sizes_[static_cast<std::size_t>(found - axis_names_.begin())];
}

std::string Mesh::to_string() const {
  std::string text = "Mesh(";
  for (std::size_t i = 0; i < axis_names_.size(); ++i) {
    text += fmt::format("{}{}={}", i > 0 ? ", " : "", axis_names_[i], axis_sizes_[i]);
  }
  return text + ")";
}

}  // namespace lockstep
