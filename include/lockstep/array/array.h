#pragma once
/// Array: the one array type, inside and outside a trace.
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/array/abstract_value.h"
#include "lockstep/array/host_tensor.h"
#include "lockstep/array/sharding.h"
#include "lockstep/pjrt/buffer.h"
#include "lockstep/tree/tree.h"

namespace lockstep {

class ArrayImpl;

/// One device's part of an array.
struct Shard {
  Device device;
  ShardIndex index;  ///< which part of the global array
  std::shared_ptr<pjrt::Buffer> buffer;
};

/// An immutable n-dimensional array: in host memory, on one or many devices (a global array made of
/// device buffers), or a value inside a trace. Copying an Array shares its elements.
class Array {
 public:
  Array() = default;         ///< No array; only assignment, destruction and is_null() are allowed.
  Array(HostTensor tensor);  // NOLINT: a host tensor is an array that is not placed yet
  /// Literals: weakly typed scalars, as Python numbers are in JAX.
  Array(std::same_as<bool> auto value) : Array(weak_bool(value)) {}  // NOLINT
  Array(std::integral auto value)                                    // NOLINT
    requires(!std::same_as<decltype(value), bool>)
      : Array(weak_integer(static_cast<std::int64_t>(value))) {}
  Array(std::floating_point auto value)  // NOLINT
      : Array(weak_float(static_cast<double>(value))) {}
  explicit Array(std::shared_ptr<const ArrayImpl> impl) : impl_(std::move(impl)) {}

  /// An array on devices from one buffer per addressable device of `sharding`, in its order;
  /// ValueError where their number differs.
  [[nodiscard]] static Array from_buffers(AbstractValue abstract_value, Sharding sharding,
                                          std::vector<std::shared_ptr<pjrt::Buffer>> buffers);

  [[nodiscard]] bool is_null() const { return impl_ == nullptr; }
  [[nodiscard]] bool is_host() const;    ///< in host memory, not placed
  [[nodiscard]] bool is_device() const;  ///< on devices
  [[nodiscard]] bool is_traced() const;  ///< stands for a value inside a trace
  /// Whether it is on devices that were chosen for it. Ops outside a trace on literals and host
  /// memory alone give arrays that are not: they stand on the default device until they meet
  /// committed ones, and follow those.
  [[nodiscard]] bool is_committed() const;
  /// The same array on devices, committed to them or not.
  [[nodiscard]] Array with_commitment(bool committed) const;

  [[nodiscard]] const AbstractValue& abstract_value() const;
  [[nodiscard]] const Shape& shape() const { return abstract_value().shape; }
  [[nodiscard]] DType dtype() const { return abstract_value().dtype; }
  [[nodiscard]] bool weak_type() const { return abstract_value().weak_type; }
  [[nodiscard]] std::int64_t ndim() const { return static_cast<std::int64_t>(shape().size()); }
  [[nodiscard]] std::int64_t size() const { return num_elements(shape()); }

  /// Where it lives; ValueError for an array that is not on devices.
  [[nodiscard]] const Sharding& sharding() const;
  /// The addressable parts, in the order of the sharding's devices.
  [[nodiscard]] std::vector<Shard> addressable_shards() const;
  /// The buffers of the addressable parts, without copying the list.
  [[nodiscard]] std::span<const std::shared_ptr<pjrt::Buffer>> buffers() const;
  /// Whether a step that took it by donation has used it up.
  [[nodiscard]] bool is_deleted() const;

  /// Waits for the elements; an error of the computation that makes them is thrown here.
  void block_until_ready() const;
  /// The elements in host memory. ValueError for a traced array ("has no value inside a trace"),
  /// for one that was donated, and for one whose parts are not all in this process and not all the
  /// same.
  [[nodiscard]] HostTensor to_host() const;
  /// As to_host, converted as cast does; a literal converts from the 64-bit number that was
  /// written.
  [[nodiscard]] HostTensor to_host(DType dtype) const;
  /// The one element of an array of one element, converted to T as static_cast does, only that a
  /// value outside of T's range becomes the nearest in it. ValueError for another number of
  /// elements.
  template <class T>
  [[nodiscard]] T item() const;
  /// All elements, row-major; ValueError where T is not the array's type.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector() const;

  [[nodiscard]] const std::shared_ptr<const ArrayImpl>& impl() const { return impl_; }

 private:
  static Array weak_bool(bool value);
  static Array weak_integer(std::int64_t value);
  static Array weak_float(double value);

  std::shared_ptr<const ArrayImpl> impl_;
};

/// What holds an array's elements, or stands for them. trace/ adds the traced kind.
class ArrayImpl {
 public:
  enum class Kind { Host, Device, Traced };
  virtual ~ArrayImpl() = default;
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const AbstractValue& abstract_value() const { return abstract_value_; }

 protected:
  ArrayImpl(Kind kind, AbstractValue abstract_value)
      : kind_(kind), abstract_value_(std::move(abstract_value)) {}

 private:
  Kind kind_;
  AbstractValue abstract_value_;
};

/// Trees of arrays: parameters, states, batches.
using Tree = BasicTree<Array>;

/// Places `array` (host or device) so that it has `sharding`. An array that already has it is
/// returned as it is. Host memory that the tensor owns, aligned and row-major, is used without a
/// copy on CPU devices; everything else is copied before this returns. Never consumes its source.
[[nodiscard]] Array device_put(const Array& array, const Sharding& sharding);

/// device_put for every leaf; an error names the leaf by its path.
[[nodiscard]] Tree device_put(const Tree& tree, const Sharding& sharding);
/// The same with a sharding for each leaf.
[[nodiscard]] Tree device_put(const Tree& tree,
                              const std::function<Sharding(const Array& leaf)>& sharding_of);

/// Every leaf in host memory.
[[nodiscard]] Tree device_get(const Tree& tree);

}  // namespace lockstep

#include "lockstep/array/array_impl.h"
