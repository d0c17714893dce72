#pragma once
/// Where the parts of an array live: meshes of devices and the split of dimensions over them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/array/shape.h"
#include "lockstep/pjrt/device.h"

namespace lockstep {

/// Devices arranged along named axes, row-major. A value; equal if devices and axes are.
class Mesh {
 public:
  Mesh() = default;
  /// ValueError where the axis sizes do not multiply to the number of devices, a device or an axis
  /// name repeats, or an axis has no name.
  Mesh(std::vector<Device> devices, std::vector<std::string> axis_names, Shape axis_sizes);
  /// A one-dimensional mesh.
  Mesh(std::vector<Device> devices, std::string axis_name);

  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<std::string>& axis_names() const { return axis_names_; }
  [[nodiscard]] const Shape& axis_sizes() const { return axis_sizes_; }
  /// Size of a named axis; ValueError listing the axes where there is none such.
  [[nodiscard]] std::int64_t axis_size(std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return devices_.size(); }
  [[nodiscard]] bool operator==(const Mesh&) const = default;
  [[nodiscard]] std::string to_string() const;  ///< "Mesh(data=4)"

 private:
  std::vector<Device> devices_;
  std::vector<std::string> axis_names_;
  Shape axis_sizes_;
};

/// For each dimension the mesh axes it is split over; dimensions past the end are not split.
using PartitionSpec = std::vector<std::vector<std::string>>;

/// The whole array on one device.
struct SingleDeviceSharding {
  Device device;
  [[nodiscard]] bool operator==(const SingleDeviceSharding&) const = default;
};

/// An array split (or replicated) over a mesh.
struct NamedSharding {
  Mesh mesh;
  PartitionSpec spec;
  [[nodiscard]] bool operator==(const NamedSharding&) const = default;
};

/// Half-open index ranges, one for each dimension: the part of the global array a device holds.
using ShardIndex = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Where an array's parts live. A cheap value (its parts are shared between copies).
/// Two are equal if they split alike over the same mesh, or are the same single device.
class Sharding {
 public:
  Sharding() = default;  ///< No sharding; only assignment, comparison and is_null() are allowed.
  Sharding(SingleDeviceSharding single);  // NOLINT: either kind is a sharding
  /// ValueError where the spec names an axis that the mesh lacks, or one axis twice.
  Sharding(NamedSharding named);  // NOLINT

  [[nodiscard]] bool is_null() const { return value_ == nullptr; }
  /// The devices in mesh order.
  [[nodiscard]] const std::vector<Device>& devices() const;
  /// Those of devices() that this process owns: their positions there, in that order.
  [[nodiscard]] const std::vector<std::size_t>& addressable_positions() const;
  /// Whether every device holds the whole array (true for a single device).
  [[nodiscard]] bool is_fully_replicated() const;
  /// The mesh, or null for a single device.
  [[nodiscard]] const Mesh* mesh() const;
  /// The spec without unsplit dimensions at its end; empty for a single device.
  [[nodiscard]] const PartitionSpec& spec() const;

  /// The shape of each device's part; ValueError naming the dimension, its length and the
  /// number it must be divisible by where it does not divide, or where the spec has more
  /// dimensions.
  [[nodiscard]] Shape shard_shape(const Shape& global_shape) const;
  /// Each device's part of an array of `global_shape`, in the order of devices().
  [[nodiscard]] std::vector<ShardIndex> shard_indices(const Shape& global_shape) const;
  /// How many parts a dimension is cut into, and which of them a device (by position) holds.
  [[nodiscard]] std::int64_t num_parts(std::size_t dimension) const;
  [[nodiscard]] std::int64_t part_of(std::size_t position, std::size_t dimension) const;

  [[nodiscard]] bool operator==(const Sharding& other) const;
  [[nodiscard]] std::string to_string() const;  ///< "cpu:0" or "Mesh(data=4), ('data', None)"

 private:
  struct Value;
  [[nodiscard]] const Value& value() const;
  std::shared_ptr<const Value> value_;
};

}  // namespace lockstep
