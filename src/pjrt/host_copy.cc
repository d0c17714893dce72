#include "pjrt/host_copy.h"

#include <cstring>

#include "pjrt/api_call.h"

namespace lockstep::pjrt {
namespace {

bool is_empty(const HostBuffer& host) {
  for (const std::int64_t extent : host.dimensions) {
    if (extent == 0) return true;
  }
  return false;
}

template <std::size_t Size>
void copy_elements(const std::byte* source, std::int64_t stride, std::int64_t count,
                   std::byte* destination) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(destination, source, Size);
    source += stride;
    destination += Size;
  }
}

void copy_line(const std::byte* source, std::int64_t stride, std::int64_t count,
               std::size_t element_size, std::byte* destination) {
  switch (element_size) {
    case 1: return copy_elements<1>(source, stride, count, destination);
    case 2: return copy_elements<2>(source, stride, count, destination);
    case 4: return copy_elements<4>(source, stride, count, destination);
    case 8: return copy_elements<8>(source, stride, count, destination);
    default: return copy_elements<16>(source, stride, count, destination);
  }
}

// The dimensions from the last one up that lie contiguously in memory are copied as one block.
struct Block {
  std::size_t num_outer = 0;  // dimensions outside the block
  std::size_t size = 0;       // bytes
};

Block trailing_block(const HostBuffer& host, std::size_t element_size) {
  Block block{host.dimensions.size(), element_size};
  while (block.num_outer > 0) {
    const std::size_t last = block.num_outer - 1;
    const std::int64_t extent = host.dimensions[last];
    if (extent != 1 && host.byte_strides[last] != static_cast<std::int64_t>(block.size)) break;
    block.size *= static_cast<std::size_t>(extent);
    --block.num_outer;
  }
  return block;
}

std::byte* copy_dimension(const HostBuffer& host, const Block& block, std::size_t element_size,
                          std::size_t dimension, const std::byte* source, std::byte* destination) {
  if (dimension == block.num_outer) {
    std::memcpy(destination, source, block.size);
    return destination + block.size;
  }
  const std::int64_t extent = host.dimensions[dimension];
  const std::int64_t stride = host.byte_strides[dimension];
  if (dimension + 1 == block.num_outer && block.size == element_size) {
    copy_line(source, stride, extent, element_size, destination);
    return destination + static_cast<std::size_t>(extent) * element_size;
  }
  for (std::int64_t i = 0; i < extent; ++i) {
    destination =
        copy_dimension(host, block, element_size, dimension + 1, source + i * stride, destination);
  }
  return destination;
}

}  // namespace

bool is_sub_byte(int element_type) {
  switch (element_type) {
    case PJRT_Buffer_Type_S1:
    case PJRT_Buffer_Type_U1:
    case PJRT_Buffer_Type_S2:
    case PJRT_Buffer_Type_U2:
    case PJRT_Buffer_Type_S4:
    case PJRT_Buffer_Type_U4:
    case PJRT_Buffer_Type_F4E2M1FN:
    case PJRT_Buffer_Type_F6E2M3FN:
    case PJRT_Buffer_Type_F6E3M2FN: return true;
    default: return false;
  }
}

std::size_t host_element_size(int element_type) {
  switch (element_type) {
    case PJRT_Buffer_Type_INVALID:
    case PJRT_Buffer_Type_TOKEN: return 0;
    case PJRT_Buffer_Type_S16:
    case PJRT_Buffer_Type_U16:
    case PJRT_Buffer_Type_F16:
    case PJRT_Buffer_Type_BF16: return 2;
    case PJRT_Buffer_Type_S32:
    case PJRT_Buffer_Type_U32:
    case PJRT_Buffer_Type_F32: return 4;
    case PJRT_Buffer_Type_S64:
    case PJRT_Buffer_Type_U64:
    case PJRT_Buffer_Type_F64:
    case PJRT_Buffer_Type_C64: return 8;
    case PJRT_Buffer_Type_C128: return 16;
    default: return 1;  // booleans, 8-bit types, and those of less than a byte
  }
}

std::size_t host_size_in_bytes(const HostBuffer& host) {
  std::size_t size = host_element_size(host.element_type);
  for (const std::int64_t extent : host.dimensions) size *= static_cast<std::size_t>(extent);
  return size;
}

bool is_row_major(const HostBuffer& host) {
  if (host.byte_strides.empty() || is_empty(host)) return true;
  return trailing_block(host, host_element_size(host.element_type)).num_outer == 0;
}

void copy_row_major(const HostBuffer& host, std::byte* destination) {
  if (is_empty(host)) return;
  const auto* source = static_cast<const std::byte*>(host.data);
  if (host.byte_strides.empty()) {
    std::memcpy(destination, source, host_size_in_bytes(host));
    return;
  }
  const std::size_t element_size = host_element_size(host.element_type);
  const Block block = trailing_block(host, element_size);
  copy_dimension(host, block, element_size, 0, source, destination);
}

}  // namespace lockstep::pjrt
