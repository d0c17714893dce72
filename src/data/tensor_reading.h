#pragma once
/// The last part of every reader of tensor files: the elements.
#include <cstddef>
#include <string_view>

#include "data/byte_source.h"
#include "lockstep/array/host_tensor.h"

namespace lockstep::data {

/// Reads the elements of a tensor, which are all that is left in `source`. `swap_width`: bytes of
/// each number to be reversed; 1 for none. ValueError with sizes for overflow, too few or too many;
/// RuntimeError where there is no memory for them.
[[nodiscard]] HostTensor read_elements(std::string_view where, ByteSource& source, DType dtype,
                                       const Shape& shape, std::size_t swap_width);

}  // namespace lockstep::data
