#pragma once
/// Tensors in host memory, dense or strided, owned or borrowed.
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/array/dtype.h"
#include "lockstep/array/shape.h"

namespace lockstep {

/// A tensor in host memory: dtype, shape, byte strides, and bytes that it owns or borrows.
///
/// Copies share the bytes; `mutable_bytes` makes them this tensor's own first (copy on write), so
/// a tensor handed to a device without a copy can never change under it.
/// A borrowed tensor does not keep its bytes alive: placing it copies them before returning.
class HostTensor {
 public:
  /// Alignment of owned bytes: what XLA:CPU needs to use them without a copy.
  static constexpr std::size_t alignment = 64;

  HostTensor() = default;  ///< An empty tensor: float32 of shape (0,).

  /// Owned, row-major, 64-byte aligned, not initialised.
  [[nodiscard]] static HostTensor empty(DType dtype, Shape shape);
  /// Owned zeros.
  [[nodiscard]] static HostTensor zeros(DType dtype, Shape shape);
  /// Owned copy of `values`, row-major; ValueError unless their number is the shape's.
  template <class T>
  [[nodiscard]] static HostTensor from(std::span<const T> values, Shape shape);
  template <class T>
  [[nodiscard]] static HostTensor from(const std::vector<T>& values, Shape shape) {
    if constexpr (std::same_as<T, bool>) {
      HostTensor tensor = empty(DType::Bool, std::move(shape));
      tensor.check_count(values.size());
      std::ranges::copy(values, reinterpret_cast<bool*>(tensor.mutable_bytes()));
      return tensor;
    } else {
      return from(std::span<const T>(values), std::move(shape));
    }
  }
  /// A scalar of shape ().
  template <class T>
  [[nodiscard]] static HostTensor scalar(T value) {
    return from(std::span<const T>(&value, 1), {});
  }
  /// Borrows `data`, which must outlive every use but placement. Empty `byte_strides` means
  /// row-major; strides may be negative or zero (a broadcast); `data` points at element (0, ...,
  /// 0).
  [[nodiscard]] static HostTensor borrow(const void* data, DType dtype, Shape shape,
                                         std::vector<std::int64_t> byte_strides = {});
  /// Takes over memory kept alive by `owner`, e.g. a mapped file or a Python buffer.
  [[nodiscard]] static HostTensor adopt(std::shared_ptr<const void> owner, const void* data,
                                        DType dtype, Shape shape,
                                        std::vector<std::int64_t> byte_strides = {});

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<std::int64_t>& byte_strides() const { return byte_strides_; }
  [[nodiscard]] std::int64_t size() const { return num_elements(shape_); }
  [[nodiscard]] std::size_t num_bytes() const;  ///< size() * byte_size(dtype())
  [[nodiscard]] bool is_contiguous() const;     ///< row-major without gaps
  [[nodiscard]] bool is_owned() const { return owner_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }

  /// Address of element (0, ..., 0).
  [[nodiscard]] const std::byte* data() const { return data_; }
  /// The elements of a contiguous tensor; ValueError where dtype, layout or alignment differ.
  /// T = std::byte gives the bytes of any dtype.
  template <class T>
  [[nodiscard]] std::span<const T> values() const;
  /// The bytes, made this tensor's own and row-major first.
  [[nodiscard]] std::byte* mutable_bytes();
  template <class T>
  [[nodiscard]] std::span<T> mutable_values();

  /// Itself if row-major, else an owned row-major copy.
  [[nodiscard]] HostTensor contiguous() const;
  /// An owned, aligned, row-major copy.
  [[nodiscard]] HostTensor clone() const;
  /// Writes the elements row-major to `destination` (num_bytes() of them).
  void copy_to(std::byte* destination) const;

  /// Views that share the bytes. Rows [begin, end) of the leading dimension; ValueError where there
  /// are no such rows.
  [[nodiscard]] HostTensor rows(std::int64_t begin, std::int64_t end) const;
  /// The part between half-open index ranges, one for each dimension, without moving bytes.
  [[nodiscard]] HostTensor slice(
      std::span<const std::pair<std::int64_t, std::int64_t>> ranges) const;
  /// Same elements, other shape; ValueError where their numbers differ. Copies if not row-major.
  [[nodiscard]] HostTensor reshape(Shape shape) const;
  /// Dimensions in another order, without moving bytes.
  [[nodiscard]] HostTensor transpose(std::span<const std::int64_t> permutation) const;

  /// dtype, shape and every byte equal (so NaN equals the same NaN).
  [[nodiscard]] bool identical(const HostTensor& other) const;

 private:
  void check_count(std::size_t count) const;
  void check_access(DType dtype, std::size_t byte_alignment) const;

  DType dtype_ = DType::Float32;
  Shape shape_ = {0};
  std::vector<std::int64_t> byte_strides_ = {4};
  std::shared_ptr<const void> owner_;  // null: borrowed
  bool is_writable_ = false;           // the owner is memory this class allocated
  const std::byte* data_ = nullptr;
};

/// The elements converted to another type, as NumPy's astype does: floats round to nearest even
/// (overflow of 8-bit floats, and halves of float8_e8m0fnu, which go up, as in ml_dtypes), to an
/// integer they truncate towards zero; integers keep their low bits; anything to bool is "not
/// zero"; a complex number loses its imaginary part.
[[nodiscard]] HostTensor cast(const HostTensor& tensor, DType dtype);

}  // namespace lockstep

#include "lockstep/array/host_tensor_impl.h"
