#pragma once
/// What is known of an array without its elements.
#include <string>

#include "lockstep/array/dtype.h"
#include "lockstep/array/shape.h"

namespace lockstep {

/// Shape and element type. `weak_type` marks a C++ literal, which takes the type of what it meets
/// (JAX's weak types).
struct AbstractValue {
  Shape shape;
  DType dtype = DType::Float32;
  bool weak_type = false;
  [[nodiscard]] bool operator==(const AbstractValue&) const = default;
};

/// "float32[8,3]"; a weak type ends in "*".
[[nodiscard]] std::string to_string(const AbstractValue& value);

}  // namespace lockstep
