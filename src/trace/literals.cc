#include "trace/literals.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/graph.h"
#include "lockstep/trace/shape_ops.h"

namespace lockstep {
namespace {

bool is_recording() {
  return current_graph() != nullptr && current_graph()->mode() == Graph::Mode::Recording;
}

template <class T>
bool fits(std::int64_t value) {
  return std::in_range<T>(value);
}

// An integer literal must be a number of the integer type it takes.
void check_range(std::int64_t value, DType dtype) {
  bool ok = true;
  switch (dtype) {
    case DType::Int8: ok = fits<std::int8_t>(value); break;
    case DType::Int16: ok = fits<std::int16_t>(value); break;
    case DType::Int32: ok = fits<std::int32_t>(value); break;
    case DType::UInt8: ok = fits<std::uint8_t>(value); break;
    case DType::UInt16: ok = fits<std::uint16_t>(value); break;
    case DType::UInt32: ok = fits<std::uint32_t>(value); break;
    case DType::UInt64: ok = fits<std::uint64_t>(value); break;
    default: break;
  }
  if (ok) return;
  throw_value_error("literal", fmt::format("{} is not a number of type {}; convert the other "
                                           "operand with astype to a type that holds it",
                                           value, to_string(dtype)));
}

}  // namespace

std::optional<primitives::Literal> literal_of(const Array& array) {
  if (!array.is_host() || !array.weak_type() || !array.shape().empty()) return std::nullopt;
  const HostTensor& exact = static_cast<const HostArray&>(*array.impl()).exact();
  if (is_floating(exact.dtype())) return array_internal::item_as_double(exact);
  if (is_complex(exact.dtype())) return std::nullopt;
  return array_internal::item_as_int64(exact);
}

Array make_literal(primitives::Literal literal, PromotedType type, const Shape& shape) {
  if (const auto* integer = std::get_if<std::int64_t>(&literal)) check_range(*integer, type.dtype);
  if (is_recording()) {
    return apply_one(primitives::constant({shape, type.dtype, type.weak_type}, literal), {});
  }
  const HostTensor wide = std::visit([](auto value) { return HostTensor::scalar(value); }, literal);
  const Array scalar(std::make_shared<HostArray>(cast(wide, type.dtype), type.weak_type));
  if (shape.empty()) return scalar;
  return apply_one(primitives::broadcast_in_dim(shape, {}), std::vector<Array>{scalar});
}

Array convert_and_broadcast(const Array& array, PromotedType type, const Shape& shape) {
  if (const auto literal = literal_of(array)) return make_literal(*literal, type, shape);
  Array result = array;
  if (array.dtype() != type.dtype) {
    // int32 with a floating literal is a weak float, as in JAX: both must be weak then.
    result = apply_one(primitives::convert(type.dtype, type.weak_type), std::vector<Array>{array});
  }
  return result.shape() == shape ? result : broadcast_to(result, shape);
}

void check_operand(std::string_view where, const Array& array) {
  if (!array.is_null()) return;
  throw_value_error(where,
                    "an operand has no value; it was default-constructed and never assigned");
}

Array operand(std::string_view where, const Array& array) {
  check_operand(where, array);
  const auto literal = literal_of(array);
  if (!literal) return array;
  return make_literal(*literal, promote_types(type_of(array), type_of(array)), {});
}

Array inexact_operand(std::string_view where, const Array& array) {
  check_operand(where, array);
  const PromotedType type = to_inexact(type_of(array));
  if (literal_of(array)) return convert_and_broadcast(array, promote_types(type, type), {});
  return convert_and_broadcast(array, type, array.shape());
}

}  // namespace lockstep
