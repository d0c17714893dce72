#pragma once
// Host arrays: how large they are and how they become row-major.
#include <cstddef>
#include <cstdint>
#include <span>

#include "lockstep/pjrt/client.h"

namespace lockstep::pjrt {

// Bytes of one element in host memory: types of less than a byte take a whole one. 0 for what is no
// element type of host data.
[[nodiscard]] std::size_t host_element_size(int element_type);

// Whether the runtime keeps several elements of this type in one byte, so that it cannot use host
// memory as it is.
[[nodiscard]] bool is_sub_byte(int element_type);

[[nodiscard]] std::size_t host_size_in_bytes(const HostBuffer& host);

[[nodiscard]] bool is_row_major(const HostBuffer& host);

// Writes the elements row-major; strides may be zero or negative.
void copy_row_major(const HostBuffer& host, std::byte* destination);

}  // namespace lockstep::pjrt
