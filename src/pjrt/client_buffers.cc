// How host memory becomes device buffers.
#include <fmt/format.h>

#include <cstdint>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"
#include "pjrt/device_description.h"
#include "pjrt/host_copy.h"
#include "pjrt/host_memory_pool.h"

namespace lockstep::pjrt {
namespace {

constexpr std::uintptr_t zero_copy_alignment = 64;

void check(const char* where, const Client& client, const HostBuffer& host, const Device& device) {
  if (&device.client() != &client || !device.is_addressable()) {
    throw_value_error(where,
                      fmt::format("device {} does not belong to this client or this process; "
                                  "use one of its addressable_devices()",
                                  device.to_string()));
  }
  if (host_element_size(host.element_type) == 0) {
    throw_value_error(
        where, fmt::format("element type {} is none that host data can have", host.element_type));
  }
  if (!host.byte_strides.empty() && host.byte_strides.size() != host.dimensions.size()) {
    throw_value_error(where, fmt::format("{} byte strides for {} dimensions; give one for each, or "
                                         "none for row-major data",
                                         host.byte_strides.size(), host.dimensions.size()));
  }
  for (const std::int64_t extent : host.dimensions) {
    if (extent < 0) throw_value_error(where, fmt::format("a dimension is negative: {}", extent));
  }
}

struct Transfer {
  std::shared_ptr<Buffer> buffer;
  Event done_with_host_buffer;
};

// `host` is row-major.
Transfer transfer(Client& client, const HostBuffer& host, const Device& device,
                  PJRT_HostBufferSemantics semantics) {
  auto call = LOCKSTEP_PJRT_CALL(client.api(), PJRT_Client_BufferFromHostBuffer);
  call->client = client.handle();
  call->data = host.data;
  call->type = static_cast<PJRT_Buffer_Type>(host.element_type);
  call->dims = host.dimensions.data();
  call->num_dims = host.dimensions.size();
  call->host_buffer_semantics = semantics;
  call->device = device.handle();
  call.run();
  Event done(client.api(), call->done_with_host_buffer);
  return {std::make_shared<Buffer>(client, call->buffer), std::move(done)};
}

// Holds `memory` until the runtime lets go of it.
std::shared_ptr<Buffer> transfer_owned(Client& client, const HostBuffer& host, const Device& device,
                                       PJRT_HostBufferSemantics semantics,
                                       std::shared_ptr<const void> memory) {
  Transfer result = transfer(client, host, device, semantics);
  result.done_with_host_buffer.on_ready([memory = std::move(memory)](const std::string&) {});
  return std::move(result.buffer);
}

bool is_on_cpu(const Client& client) {
  return platform_of(client.platform_name()) == "cpu";
}

}  // namespace

std::shared_ptr<Buffer> Client::buffer_from_host(const HostBuffer& host, const Device& device) {
  check("Client::buffer_from_host", *this, host, device);
  const bool row_major = is_row_major(host);
  const std::size_t size = host_size_in_bytes(host);
  if (row_major && (size == 0 || is_sub_byte(host.element_type) || !is_on_cpu(*this))) {
    return transfer(*this, host, device, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall).buffer;
  }
  const std::shared_ptr<std::byte> memory = host_memory_->acquire(size);
  copy_row_major(host, memory.get());
  const HostBuffer copied{.data = memory.get(),
                          .element_type = host.element_type,
                          .dimensions = host.dimensions,
                          .byte_strides = {}};
  // The memory is ours alone, so a program that takes the buffer by donation may write to it.
  return transfer_owned(*this, copied, device, PJRT_HostBufferSemantics_kMutableZeroCopy, memory);
}

std::shared_ptr<Buffer> Client::buffer_from_host_zero_copy(const HostBuffer& host,
                                                           const Device& device,
                                                           std::shared_ptr<const void> keep_alive) {
  check("Client::buffer_from_host_zero_copy", *this, host, device);
  const bool aligned = reinterpret_cast<std::uintptr_t>(host.data) % zero_copy_alignment == 0;
  if (!aligned || !is_row_major(host) || is_sub_byte(host.element_type)) {
    return buffer_from_host(host, device);
  }
  return transfer_owned(*this, host, device, PJRT_HostBufferSemantics_kImmutableZeroCopy,
                        std::move(keep_alive));
}

}  // namespace lockstep::pjrt
