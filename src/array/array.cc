#include "lockstep/array/array.h"

#include <fmt/format.h>

#include <limits>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

const DeviceArray* as_device(const std::shared_ptr<const ArrayImpl>& impl) {
  return impl != nullptr && impl->kind() == ArrayImpl::Kind::Device
             ? static_cast<const DeviceArray*>(impl.get())
             : nullptr;
}

std::string describe(const Array& array) {
  if (array.is_null()) return "a null array";
  return fmt::format("{} array of {}", array.is_host() ? "a host" : "a traced",
                     to_string(array.abstract_value()));
}

const DeviceArray& checked_device(const Array& array, const char* where) {
  if (const DeviceArray* device = as_device(array.impl())) return *device;
  throw_value_error(where, fmt::format("{} is not on devices; place it first (device_put, or a "
                                       "strategy's place_state or place_batch)",
                                       describe(array)));
}

void check_one_element(const HostTensor& tensor) {
  if (tensor.size() == 1) return;
  throw_value_error("Array::item", fmt::format("an array of shape {} has {} elements; item() needs "
                                               "exactly one",
                                               to_string(tensor.shape()), tensor.size()));
}

template <class T>
T only_value(const HostTensor& tensor, DType dtype) {
  check_one_element(tensor);
  return cast(tensor, dtype).clone().values<T>()[0];
}

}  // namespace

Array::Array(HostTensor tensor) : impl_(std::make_shared<HostArray>(std::move(tensor))) {}

Array Array::weak_bool(bool value) {
  return Array(std::make_shared<HostArray>(HostTensor::scalar(value)));
}

Array Array::weak_integer(std::int64_t value) {
  HostTensor exact = HostTensor::scalar(value);
  const bool fits = value >= std::numeric_limits<std::int32_t>::min() &&
                    value <= std::numeric_limits<std::int32_t>::max();
  HostTensor tensor = fits ? cast(exact, DType::Int32) : exact;
  return Array(std::make_shared<HostArray>(std::move(tensor), std::move(exact)));
}

Array Array::weak_float(double value) {
  HostTensor exact = HostTensor::scalar(value);
  HostTensor tensor = cast(exact, DType::Float32);
  return Array(std::make_shared<HostArray>(std::move(tensor), std::move(exact)));
}

bool Array::is_committed() const {
  const DeviceArray* device = as_device(impl_);
  return device != nullptr && device->is_committed();
}

Array Array::with_commitment(bool committed) const {
  const DeviceArray& device = checked_device(*this, "Array::with_commitment");
  if (device.is_committed() == committed) return *this;
  return Array(std::make_shared<DeviceArray>(device.abstract_value(), device.sharding(),
                                             device.buffers(), committed));
}

Array Array::from_buffers(AbstractValue abstract_value, Sharding sharding,
                          std::vector<std::shared_ptr<pjrt::Buffer>> buffers) {
  if (buffers.size() != sharding.addressable_positions().size()) {
    throw_value_error(
        "Array::from_buffers",
        fmt::format("{} buffers for {} addressable devices of {}; give one for each",
                    buffers.size(), sharding.addressable_positions().size(), sharding.to_string()));
  }
  return Array(std::make_shared<DeviceArray>(std::move(abstract_value), std::move(sharding),
                                             std::move(buffers)));
}

bool Array::is_host() const {
  return impl_ != nullptr && impl_->kind() == ArrayImpl::Kind::Host;
}

bool Array::is_device() const {
  return impl_ != nullptr && impl_->kind() == ArrayImpl::Kind::Device;
}

bool Array::is_traced() const {
  return impl_ != nullptr && impl_->kind() == ArrayImpl::Kind::Traced;
}

const AbstractValue& Array::abstract_value() const {
  if (impl_ == nullptr) throw_value_error("Array", "the array is null; assign one first");
  return impl_->abstract_value();
}

const Sharding& Array::sharding() const {
  return checked_device(*this, "Array::sharding").sharding();
}

std::vector<Shard> Array::addressable_shards() const {
  const DeviceArray& device = checked_device(*this, "Array::addressable_shards");
  const Sharding& where = device.sharding();
  std::vector<ShardIndex> indices = where.shard_indices(shape());
  std::vector<Shard> shards;
  shards.reserve(device.buffers().size());
  for (std::size_t i = 0; i < device.buffers().size(); ++i) {
    const std::size_t position = where.addressable_positions()[i];
    shards.push_back(
        {where.devices()[position], std::move(indices[position]), device.buffers()[i]});
  }
  return shards;
}

std::span<const std::shared_ptr<pjrt::Buffer>> Array::buffers() const {
  return checked_device(*this, "Array::buffers").buffers();
}

bool Array::is_deleted() const {
  const DeviceArray* device = as_device(impl_);
  if (device == nullptr) return false;
  for (const auto& buffer : device->buffers()) {
    if (buffer->is_deleted()) return true;
  }
  return false;
}

HostTensor Array::to_host(DType dtype) const {
  if (is_host()) return cast(static_cast<const HostArray&>(*impl_).exact(), dtype);
  return cast(to_host(), dtype);
}

namespace array_internal {

double item_as_double(const HostTensor& tensor) {
  return only_value<double>(tensor, DType::Float64);
}
std::int64_t item_as_int64(const HostTensor& tensor) {
  return only_value<std::int64_t>(tensor, DType::Int64);
}
std::uint64_t item_as_uint64(const HostTensor& tensor) {
  return only_value<std::uint64_t>(tensor, DType::UInt64);
}
std::complex<double> item_as_complex(const HostTensor& tensor) {
  return only_value<std::complex<double>>(tensor, DType::Complex128);
}

}  // namespace array_internal
}  // namespace lockstep
