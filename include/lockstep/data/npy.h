#pragma once
/// NPY: NumPy's format of one array.
#include <filesystem>
#include <optional>

#include "lockstep/array/host_tensor.h"

namespace lockstep::data {

/// How an NPY file is read.
struct NpyOptions {
  /// What raw void elements ("<V2", "|V1") are. NumPy writes bfloat16, and the types of 8 bits and
  /// less, under these names, so the file cannot tell. Unset: such a file is refused.
  std::optional<DType> void_dtype = {};
};

/// Reads an NPY file (format 1.0, 2.0 or 3.0), also as gzip data: bool, signed and unsigned
/// integers, float16 to float64, complex64 and complex128, little- or big-endian, of any rank, in
/// C or Fortran order. The tensor is row-major whatever the file's order.
///
/// ValueError, naming the file, for a missing file, another magic, a broken header, sizes that do
/// not fit the file's length, and, naming the type too, for element types that are no numbers
/// (objects, text, structures, dates) or that no DType has. RuntimeError where the file cannot be
/// read or there is no memory for it. Nothing in a file is ever executed.
[[nodiscard]] HostTensor read_npy(const std::filesystem::path& path,
                                  const NpyOptions& options = {});

}  // namespace lockstep::data
