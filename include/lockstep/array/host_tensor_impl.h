#pragma once
// The bodies of host_tensor.h's templates.
#include <cstring>
#include <type_traits>

namespace lockstep {

template <class T>  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
HostTensor HostTensor::from(std::span<const T> values, Shape shape) {
  HostTensor tensor = empty(dtype_of<T>, std::move(shape));
  tensor.check_count(values.size());
  if (!values.empty()) std::memcpy(tensor.mutable_bytes(), values.data(), values.size_bytes());
  return tensor;
}

template <class T>
std::span<const T> HostTensor::values() const {
  if constexpr (std::same_as<T, std::byte>) {
    check_access(dtype_, 1);
    return {data_, num_bytes()};
  } else {
    check_access(dtype_of<T>, alignof(T));
    return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(size())};
  }
}

template <class T>
std::span<T> HostTensor::mutable_values() {
  if constexpr (std::same_as<T, std::byte>) {
    std::byte* const bytes = mutable_bytes();
    return {bytes, num_bytes()};
  } else {
    std::byte* const bytes = mutable_bytes();
    check_access(dtype_of<T>, alignof(T));
    return {reinterpret_cast<T*>(bytes), static_cast<std::size_t>(size())};
  }
}

}  // namespace lockstep
