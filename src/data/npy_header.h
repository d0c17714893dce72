#pragma once
/// The header of an NPY file: a Python dict literal with three keys.
#include <string>
#include <string_view>

#include "lockstep/array/shape.h"

namespace lockstep::data {

struct NpyHeader {
  std::string descr;           ///< "<f4"; the literal's text for a structure
  bool is_structured = false;  ///< descr is a list of fields
  bool fortran_order = false;
  Shape shape;
};

/// Parses the literal; keys may come in any order. ValueError without a `where` of its own: the
/// text says what was expected and what was found at which place.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text);

}  // namespace lockstep::data
