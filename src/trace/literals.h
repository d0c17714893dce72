#pragma once
// Literals (C++ numbers that became arrays) and how operands get their type and shape.
#include <optional>
#include <string_view>

#include "lockstep/trace/promotion.h"
#include "trace/primitives.h"

namespace lockstep {

// The number behind a literal; none for any other array.
std::optional<primitives::Literal> literal_of(const Array& array);

// A literal as an array of `type` and `shape`: a constant of the program while one is recorded,
// else data, so that another value does not mean another program.
Array make_literal(primitives::Literal literal, PromotedType type, const Shape& shape);

// `array` converted to `type` and broadcast to `shape`.
Array convert_and_broadcast(const Array& array, PromotedType type, const Shape& shape);

// `array`, as an array of the default type if it is a literal. ValueError for a null array.
Array operand(std::string_view where, const Array& array);
// The same, and converted to a floating type if it is none.
Array inexact_operand(std::string_view where, const Array& array);
void check_operand(std::string_view where, const Array& array);

inline PromotedType type_of(const Array& array) {
  return {array.dtype(), array.weak_type()};
}

}  // namespace lockstep
