#include "lockstep/pjrt/buffer.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <numeric>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"
#include "pjrt/host_copy.h"

namespace lockstep::pjrt {
namespace {

std::atomic<std::int64_t> live_buffers = 0;

// The host layout of row-major data: the last dimension varies fastest.
class RowMajorLayout {
 public:
  explicit RowMajorLayout(std::size_t rank) : minor_to_major_(rank) {
    std::iota(minor_to_major_.rbegin(), minor_to_major_.rend(), 0);
    layout_.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
    layout_.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
    layout_.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
    layout_.tiled.minor_to_major = minor_to_major_.data();
    layout_.tiled.minor_to_major_size = rank;
  }
  RowMajorLayout(const RowMajorLayout&) = delete;
  RowMajorLayout& operator=(const RowMajorLayout&) = delete;
  [[nodiscard]] PJRT_Buffer_MemoryLayout* get() { return &layout_; }

 private:
  std::vector<std::int64_t> minor_to_major_;
  PJRT_Buffer_MemoryLayout layout_{};
};

}  // namespace

std::int64_t num_live_buffers() {
  return live_buffers.load();
}

Buffer::Buffer(Client& client, PJRT_Buffer* buffer) : client_(&client), buffer_(buffer) {
  live_buffers.fetch_add(1, std::memory_order_relaxed);
}

Buffer::~Buffer() {
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_Destroy);
  call->buffer = buffer_;
  std::ignore = call.try_run();
  live_buffers.fetch_sub(1, std::memory_order_relaxed);
}

Device Buffer::device() const {
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_Device);
  call->buffer = buffer_;
  call.run();
  return client_->device(call->device);
}

int Buffer::element_type() const {
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_ElementType);
  call->buffer = buffer_;
  call.run();
  return static_cast<int>(call->type);
}

std::span<const std::int64_t> Buffer::dimensions() const {
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_Dimensions);
  call->buffer = buffer_;
  call.run();
  return {call->dims, call->num_dims};
}

std::size_t Buffer::on_device_size_in_bytes() const {
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_OnDeviceSizeInBytes);
  call->buffer = buffer_;
  call.run();
  return call->on_device_size_in_bytes;
}

bool Buffer::is_deleted() const {
  if (is_donated()) return true;
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_IsDeleted);
  call->buffer = buffer_;
  call.run();
  return call->is_deleted;
}

Event Buffer::ready_event() const {
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_ReadyEvent);
  call->buffer = buffer_;
  call.run();
  return {client_->api(), call->event};
}

Event Buffer::copy_to_host(std::byte* destination, std::size_t size) const {
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_ToHostBuffer);
  RowMajorLayout layout(dimensions().size());
  call->src = buffer_;
  call->host_layout = layout.get();
  call->dst = destination;
  call->dst_size = size;
  call.run();
  return {client_->api(), call->event};
}

std::shared_ptr<Buffer> Buffer::copy_to_device(const Device& target) const {
  if (&target.client() == client_ && target != device()) {
    auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Buffer_CopyToDevice);
    call->buffer = buffer_;
    call->dst_device = target.handle();
    const std::optional<ApiError> error = call.try_run();
    if (!error) return std::make_shared<Buffer>(*client_, call->dst_buffer);
    if (error->code != PJRT_Error_Code_UNIMPLEMENTED) {
      throw_api_error("PJRT_Buffer_CopyToDevice", *error);
    }
  }
  const HostBuffer shape{.element_type = element_type(), .dimensions = dimensions()};
  const std::size_t size = host_size_in_bytes(shape);
  std::vector<std::byte> bytes(size);
  copy_to_host(bytes.data(), size).await();
  HostBuffer host = shape;
  host.data = bytes.data();
  return target.client().buffer_from_host(host, target);
}

}  // namespace lockstep::pjrt
