#pragma once
/// IDX: the format of the MNIST family of data sets.
#include <filesystem>

#include "lockstep/array/host_tensor.h"

namespace lockstep::data {

/// Reads an IDX file, raw or gzip data (told by content, not by name): big-endian magic
/// 0x0000TTRR (element type TT, rank RR), RR lengths of 32 bits, elements row-major.
/// Types: 0x08 uint8, 0x09 int8, 0x0B int16, 0x0C int32, 0x0D float32, 0x0E float64; any rank.
///
/// ValueError, naming the file, for a missing file, another magic (shown), lengths whose product
/// overflows, fewer or more bytes than the lengths ask for, and broken gzip data. Memory is taken
/// only after what the header claims was held against the file's length. RuntimeError where the
/// file cannot be read or there is no memory for it.
[[nodiscard]] HostTensor read_idx(const std::filesystem::path& path);

}  // namespace lockstep::data
