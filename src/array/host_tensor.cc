#include "lockstep/array/host_tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "array/strided_copy.h"
#include "lockstep/base/error.h"
#include "pjrt/host_memory_pool.h"

namespace lockstep {
namespace {

using array_internal::copy_strided;
using array_internal::row_major_strides;

// Large freed tensors are kept for the next of their size, up to this many bytes.
constexpr std::size_t kMostKeptBytes = std::size_t{256} << 20;

std::shared_ptr<std::byte> allocate(std::size_t size) {
  // Never destroyed: a runtime's threads may let go of tensors while the process ends.
  static const auto& pool =
      *new std::shared_ptr<pjrt::HostMemoryPool>(new pjrt::HostMemoryPool(kMostKeptBytes));
  return pool->acquire(size);
}

std::size_t checked_num_bytes(DType dtype, const Shape& shape) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(num_elements(shape)), byte_size(dtype),
                             &bytes)) {
    throw_value_error("HostTensor", fmt::format("{} of {} needs more bytes than 64 bits count",
                                                to_string(shape), to_string(dtype)));
  }
  return bytes;
}

std::vector<std::int64_t> checked_strides(DType dtype, const Shape& shape, const void* data,
                                          std::vector<std::int64_t> byte_strides) {
  if (checked_num_bytes(dtype, shape) > 0 && data == nullptr) {
    throw_value_error("HostTensor", fmt::format("the data of {} {} is a null pointer",
                                                to_string(dtype), to_string(shape)));
  }
  if (byte_strides.empty()) return row_major_strides(shape, byte_size(dtype));
  if (byte_strides.size() != shape.size()) {
    throw_value_error("HostTensor",
                      fmt::format("{} byte strides for shape {}; give one for each dimension, or "
                                  "none for row-major",
                                  byte_strides.size(), to_string(shape)));
  }
  return byte_strides;
}

}  // namespace

HostTensor HostTensor::empty(DType dtype, Shape shape) {
  HostTensor tensor;
  const std::shared_ptr<std::byte> block = allocate(checked_num_bytes(dtype, shape));
  tensor.dtype_ = dtype;
  tensor.byte_strides_ = row_major_strides(shape, byte_size(dtype));
  tensor.shape_ = std::move(shape);
  tensor.data_ = block.get();
  tensor.owner_ = block;
  tensor.is_writable_ = true;
  return tensor;
}

HostTensor HostTensor::zeros(DType dtype, Shape shape) {
  HostTensor tensor = empty(dtype, std::move(shape));
  std::memset(tensor.mutable_bytes(), 0, tensor.num_bytes());
  return tensor;
}

HostTensor HostTensor::borrow(const void* data, DType dtype, Shape shape,
                              std::vector<std::int64_t> byte_strides) {
  HostTensor tensor;
  tensor.byte_strides_ = checked_strides(dtype, shape, data, std::move(byte_strides));
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.data_ = static_cast<const std::byte*>(data);
  return tensor;
}

HostTensor HostTensor::adopt(std::shared_ptr<const void> owner, const void* data, DType dtype,
                             Shape shape, std::vector<std::int64_t> byte_strides) {
  if (owner == nullptr) {
    throw_value_error("HostTensor::adopt",
                      "the owner is null; pass what keeps the memory alive, or use borrow");
  }
  HostTensor tensor = borrow(data, dtype, std::move(shape), std::move(byte_strides));
  tensor.owner_ = std::move(owner);
  return tensor;
}

std::size_t HostTensor::num_bytes() const {
  return static_cast<std::size_t>(size()) * byte_size(dtype_);
}

bool HostTensor::is_contiguous() const {
  return array_internal::is_row_major(shape_, byte_strides_, byte_size(dtype_));
}

void HostTensor::check_count(std::size_t count) const {
  if (count == static_cast<std::size_t>(size())) return;
  throw_value_error("HostTensor", fmt::format("{} values for shape {}, which has {} elements",
                                              count, to_string(shape_), size()));
}

void HostTensor::check_access(DType dtype, std::size_t byte_alignment) const {
  if (dtype != dtype_) {
    throw_value_error("HostTensor",
                      fmt::format("the elements are {}, not {}; cast the tensor first",
                                  to_string(dtype_), to_string(dtype)));
  }
  if (!is_contiguous()) {
    throw_value_error("HostTensor",
                      fmt::format("a tensor of shape {} with byte strides {} is not row-major; use "
                                  "contiguous() first",
                                  to_string(shape_), to_string(byte_strides_)));
  }
  if (reinterpret_cast<std::uintptr_t>(data_) % byte_alignment != 0) {
    throw_value_error("HostTensor",
                      fmt::format("the elements do not start at a multiple of {} bytes, which {} "
                                  "needs; use clone() first",
                                  byte_alignment, to_string(dtype_)));
  }
}

std::byte* HostTensor::mutable_bytes() {
  if (is_writable_ && owner_.use_count() == 1 && is_contiguous()) {
    // What the last other holder (perhaps a device's thread) read, it has read by now: giving up a
    // share orders this thread after it. A fence would do so too, but ThreadSanitizer follows none.
    std::shared_ptr<const void>(owner_).reset();
  } else {
    *this = clone();
  }
  return const_cast<std::byte*>(data_);
}

HostTensor HostTensor::contiguous() const {
  return is_contiguous() ? *this : clone();
}

HostTensor HostTensor::clone() const {
  HostTensor copy = empty(dtype_, shape_);
  copy_to(const_cast<std::byte*>(copy.data_));
  return copy;
}

void HostTensor::copy_to(std::byte* destination) const {
  const std::size_t bytes = num_bytes();
  if (bytes == 0) return;
  if (is_contiguous()) {
    std::memcpy(destination, data_, bytes);
    return;
  }
  copy_strided(data_, byte_strides_, destination, row_major_strides(shape_, byte_size(dtype_)),
               shape_, byte_size(dtype_));
}

HostTensor HostTensor::rows(std::int64_t begin, std::int64_t end) const {
  if (shape_.empty() || begin < 0 || begin > end || end > shape_[0]) {
    throw_value_error("HostTensor::rows", fmt::format("there are no rows [{}, {}) in shape {}",
                                                      begin, end, to_string(shape_)));
  }
  HostTensor view = *this;
  view.shape_[0] = end - begin;
  if (num_bytes() > 0) view.data_ += begin * byte_strides_[0];
  return view;
}

HostTensor HostTensor::slice(std::span<const std::pair<std::int64_t, std::int64_t>> ranges) const {
  if (ranges.size() != shape_.size()) {
    throw_value_error("HostTensor::slice", fmt::format("{} ranges for shape {}; give one for each "
                                                       "dimension",
                                                       ranges.size(), to_string(shape_)));
  }
  HostTensor view = *this;
  const bool has_elements = num_bytes() > 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto [begin, end] = ranges[i];
    if (begin < 0 || begin > end || end > shape_[i]) {
      throw_value_error("HostTensor::slice",
                        fmt::format("range [{}, {}) of dimension {} does not lie in shape {}",
                                    begin, end, i, to_string(shape_)));
    }
    view.shape_[i] = end - begin;
    if (has_elements) view.data_ += begin * byte_strides_[i];
  }
  return view;
}

HostTensor HostTensor::reshape(Shape shape) const {
  if (num_elements(shape) != size()) {
    throw_value_error(
        "HostTensor::reshape",
        fmt::format("shape {} has {} elements, the tensor's {} has {}", to_string(shape),
                    num_elements(shape), to_string(shape_), size()));
  }
  HostTensor view = contiguous();
  view.byte_strides_ = row_major_strides(shape, byte_size(dtype_));
  view.shape_ = std::move(shape);
  return view;
}

HostTensor HostTensor::transpose(std::span<const std::int64_t> permutation) const {
  std::vector<bool> used(shape_.size(), false);
  bool valid = permutation.size() == shape_.size();
  for (std::size_t i = 0; valid && i < permutation.size(); ++i) {
    const std::int64_t axis = permutation[i];
    valid = axis >= 0 && axis < static_cast<std::int64_t>(used.size()) &&
            !used[static_cast<std::size_t>(axis)];
    if (valid) used[static_cast<std::size_t>(axis)] = true;
  }
  if (!valid) {
    throw_value_error("HostTensor::transpose",
                      fmt::format("{} is no permutation of the {} dimensions of {}",
                                  to_string(Shape(permutation.begin(), permutation.end())),
                                  shape_.size(), to_string(shape_)));
  }
  HostTensor view = *this;
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    const auto axis = static_cast<std::size_t>(permutation[i]);
    view.shape_[i] = shape_[axis];
    view.byte_strides_[i] = byte_strides_[axis];
  }
  return view;
}

bool HostTensor::identical(const HostTensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  const HostTensor mine = contiguous();
  const HostTensor theirs = other.contiguous();
  const std::size_t bytes = num_bytes();
  return bytes == 0 || std::memcmp(mine.data_, theirs.data_, bytes) == 0;
}

}  // namespace lockstep
