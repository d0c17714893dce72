#pragma once
// The kinds of array that hold elements, and the bodies of array.h's templates.
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace lockstep {

/// An array in host memory.
class HostArray final : public ArrayImpl {
 public:
  explicit HostArray(HostTensor tensor, bool weak_type = false)
      : ArrayImpl(Kind::Host, {tensor.shape(), tensor.dtype(), weak_type}),
        tensor_(std::move(tensor)) {}
  /// A literal: `tensor` in its default type, `exact` as the 64-bit number that was written.
  HostArray(HostTensor tensor, HostTensor exact)
      : ArrayImpl(Kind::Host, {tensor.shape(), tensor.dtype(), true}),
        tensor_(std::move(tensor)),
        exact_(std::move(exact)) {}
  [[nodiscard]] const HostTensor& tensor() const { return tensor_; }
  /// What a conversion to another type starts from.
  [[nodiscard]] const HostTensor& exact() const { return exact_ ? *exact_ : tensor_; }

 private:
  HostTensor tensor_;
  std::optional<HostTensor> exact_;
};

/// An array on devices.
class DeviceArray final : public ArrayImpl {
 public:
  DeviceArray(AbstractValue abstract_value, Sharding sharding,
              std::vector<std::shared_ptr<pjrt::Buffer>> buffers, bool is_committed = true)
      : ArrayImpl(Kind::Device, std::move(abstract_value)),
        sharding_(std::move(sharding)),
        buffers_(std::move(buffers)),
        is_committed_(is_committed) {}
  [[nodiscard]] const Sharding& sharding() const { return sharding_; }
  [[nodiscard]] const std::vector<std::shared_ptr<pjrt::Buffer>>& buffers() const {
    return buffers_;
  }
  [[nodiscard]] bool is_committed() const { return is_committed_; }

 private:
  Sharding sharding_;
  std::vector<std::shared_ptr<pjrt::Buffer>> buffers_;
  bool is_committed_;
};

namespace array_internal {

/// The one element, read as one of the widest types of its kind.
[[nodiscard]] double item_as_double(const HostTensor& tensor);
[[nodiscard]] std::int64_t item_as_int64(const HostTensor& tensor);
[[nodiscard]] std::uint64_t item_as_uint64(const HostTensor& tensor);
[[nodiscard]] std::complex<double> item_as_complex(const HostTensor& tensor);

/// To the nearest value in the integer's range; NaN becomes zero.
template <class Integer>
[[nodiscard]] Integer clamp_to(double value) {
  if (std::isnan(value)) return 0;
  // The ends as doubles are powers of two or exact, so that nothing in between is out of range.
  if (value >= std::ldexp(1.0, std::numeric_limits<Integer>::digits)) {
    return std::numeric_limits<Integer>::max();
  }
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min())) {
    return std::numeric_limits<Integer>::min();
  }
  return static_cast<Integer>(value);
}

template <class To, class From>
[[nodiscard]] To clamp_integer(From value) {
  if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(value, std::numeric_limits<To>::max())) {
    return std::numeric_limits<To>::max();
  }
  return static_cast<To>(value);
}

template <class T>
[[nodiscard]] T item_of(const HostTensor& tensor) {
  const DType dtype = tensor.dtype();
  if constexpr (std::same_as<T, bool>) {
    return item_as_complex(tensor) != std::complex<double>();
  } else if constexpr (std::integral<T>) {
    if (is_floating(dtype) || is_complex(dtype)) return clamp_to<T>(item_as_double(tensor));
    if (dtype == DType::UInt64) return clamp_integer<T>(item_as_uint64(tensor));
    return clamp_integer<T>(item_as_int64(tensor));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(item_as_double(tensor));
  } else if constexpr (std::same_as<T, std::complex<float>> ||
                       std::same_as<T, std::complex<double>>) {
    return T(item_as_complex(tensor));
  } else {
    return T(static_cast<float>(item_as_double(tensor)));  // BFloat16, Float16
  }
}

}  // namespace array_internal

template <class T>
T Array::item() const {
  const HostTensor tensor = to_host();
  return array_internal::item_of<T>(tensor);
}

template <class T>
std::vector<T> Array::to_vector() const {
  const HostTensor tensor = to_host().contiguous();
  const std::span<const T> values = tensor.values<T>();
  return std::vector<T>(values.begin(), values.end());
}

}  // namespace lockstep
