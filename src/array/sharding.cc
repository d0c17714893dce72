#include "lockstep/array/sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lockstep/base/error.h"

namespace lockstep {

// What is asked of a sharding at every placement is worked out once.
struct Sharding::Value {
  std::optional<Mesh> mesh;
  PartitionSpec spec;
  std::vector<Device> single_device;  // one, where there is no mesh
  std::vector<std::size_t> addressable;
  bool is_fully_replicated = true;
  std::vector<std::int64_t> num_parts;  // of each dimension of the spec
  std::vector<std::int64_t> parts;      // of each device, of each dimension of the spec

  [[nodiscard]] const std::vector<Device>& devices() const {
    return mesh ? mesh->devices() : single_device;
  }
  void note_addressable() {
    for (std::size_t i = 0; i < devices().size(); ++i) {
      if (devices()[i].is_addressable()) addressable.push_back(i);
    }
  }
};

namespace {

void check_axes(const Mesh& mesh, const PartitionSpec& spec) {
  std::vector<std::string> used;
  for (const std::vector<std::string>& axes : spec) {
    for (const std::string& axis : axes) {
      (void)mesh.axis_size(axis);
      if (std::ranges::find(used, axis) != used.end()) {
        throw_value_error("Sharding",
                          fmt::format("the mesh axis '{}' splits two dimensions; an axis "
                                      "may split one",
                                      axis));
      }
      used.push_back(axis);
    }
  }
}

// The device's coordinate along a mesh axis.
std::int64_t coordinate(const Mesh& mesh, std::size_t position, std::string_view name) {
  auto rest = static_cast<std::int64_t>(position);
  for (std::size_t i = mesh.axis_names().size(); i-- > 0;) {
    const std::int64_t here = rest % mesh.axis_sizes()[i];
    if (mesh.axis_names()[i] == name) return here;
    rest /= mesh.axis_sizes()[i];
  }
  return 0;
}

}  // namespace

Sharding::Sharding(SingleDeviceSharding single) {
  if (single.device.is_null()) throw_value_error("Sharding", "the device is null");
  auto value = std::make_shared<Value>();
  value->single_device = {single.device};
  value->note_addressable();
  value_ = std::move(value);
}

Sharding::Sharding(NamedSharding named) {
  if (named.mesh.size() == 0) throw_value_error("Sharding", "the mesh has no devices");
  check_axes(named.mesh, named.spec);
  auto value = std::make_shared<Value>();
  const Mesh& mesh = value->mesh.emplace(std::move(named.mesh));
  value->spec = std::move(named.spec);
  while (!value->spec.empty() && value->spec.back().empty()) value->spec.pop_back();
  for (const std::vector<std::string>& axes : value->spec) {
    std::int64_t count = 1;
    for (const std::string& axis : axes) count *= mesh.axis_size(axis);
    value->num_parts.push_back(count);
    if (count > 1) value->is_fully_replicated = false;
  }
  for (std::size_t position = 0; position < mesh.size(); ++position) {
    for (const std::vector<std::string>& axes : value->spec) {
      std::int64_t part = 0;  // the first axis of a dimension varies slowest
      for (const std::string& axis : axes) {
        part = part * mesh.axis_size(axis) + coordinate(mesh, position, axis);
      }
      value->parts.push_back(part);
    }
  }
  value->note_addressable();
  value_ = std::move(value);
}

const Sharding::Value& Sharding::value() const {
  if (value_ == nullptr) throw_value_error("Sharding", "the sharding is null; give it devices");
  return *value_;
}

const std::vector<Device>& Sharding::devices() const {
  return value().devices();
}

const std::vector<std::size_t>& Sharding::addressable_positions() const {
  return value().addressable;
}

bool Sharding::is_fully_replicated() const {
  return value().is_fully_replicated;
}

const Mesh* Sharding::mesh() const {
  const std::optional<Mesh>& mesh = value().mesh;
  return mesh ? &*mesh : nullptr;
}

const PartitionSpec& Sharding::spec() const {
  return value().spec;
}

std::int64_t Sharding::num_parts(std::size_t dimension) const {
  return dimension < value().num_parts.size() ? value().num_parts[dimension] : 1;
}

std::int64_t Sharding::part_of(std::size_t position, std::size_t dimension) const {
  const std::size_t count = value().num_parts.size();
  return dimension < count ? value().parts[position * count + dimension] : 0;
}

Shape Sharding::shard_shape(const Shape& global_shape) const {
  if (value().num_parts.size() > global_shape.size()) {
    throw_value_error("Sharding",
                      fmt::format("{} splits dimension {}, but shape {} has {} dimension(s)",
                                  to_string(), value().num_parts.size() - 1,
                                  lockstep::to_string(global_shape), global_shape.size()));
  }
  Shape shape = global_shape;
  for (std::size_t i = 0; i < value().num_parts.size(); ++i) {
    const std::int64_t parts = value().num_parts[i];
    if (shape[i] % parts != 0) {
      throw_value_error(
          "Sharding",
          fmt::format("dimension {} of shape {} has length {}, which {} splits into {} "
                      "parts; it must be divisible by {}",
                      i, lockstep::to_string(global_shape), shape[i], to_string(), parts, parts));
    }
    shape[i] /= parts;
  }
  return shape;
}

std::vector<ShardIndex> Sharding::shard_indices(const Shape& global_shape) const {
  const Shape part_shape = shard_shape(global_shape);
  std::vector<ShardIndex> indices(devices().size());
  for (std::size_t position = 0; position < indices.size(); ++position) {
    ShardIndex& index = indices[position];
    index.reserve(part_shape.size());
    for (std::size_t i = 0; i < part_shape.size(); ++i) {
      const std::int64_t begin = part_of(position, i) * part_shape[i];
      index.emplace_back(begin, begin + part_shape[i]);
    }
  }
  return indices;
}

bool Sharding::operator==(const Sharding& other) const {
  if (value_ == other.value_) return true;
  if (value_ == nullptr || other.value_ == nullptr) return false;
  return value_->spec == other.value_->spec && value_->mesh == other.value_->mesh &&
         value_->single_device == other.value_->single_device;
}

std::string Sharding::to_string() const {
  if (value_ == nullptr) return "no sharding";
  const std::optional<Mesh>& mesh = value_->mesh;
  if (!mesh) return value_->single_device[0].to_string();
  std::string text = mesh->to_string() + ", (";
  for (std::size_t i = 0; i < value_->spec.size(); ++i) {
    const std::vector<std::string>& axes = value_->spec[i];
    if (i > 0) text += ", ";
    if (axes.empty()) {
      text += "None";
    } else if (axes.size() == 1) {
      text += "'" + axes[0] + "'";
    } else {
      text += "(";
      for (std::size_t k = 0; k < axes.size(); ++k) text += (k > 0 ? ", '" : "'") + axes[k] + "'";
      text += ")";
    }
  }
  text += value_->spec.size() == 1 ? ",)" : ")";
  return text;
}

}  // namespace lockstep
