#include "lockstep/trace/creation.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/literals.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

Array filled(const Shape& shape, std::int64_t value, DType dtype) {
  (void)num_elements(shape);  // refuses negative lengths
  return apply_one(primitives::constant({.shape = shape, .dtype = dtype}, value), {});
}

// Row and column numbers of an n by m matrix.
std::pair<Array, Array> row_and_column(std::int64_t n, std::int64_t m) {
  return {broadcasted_iota(DType::Int32, {n, m}, 0), broadcasted_iota(DType::Int32, {n, m}, 1)};
}

}  // namespace

Array zeros(const Shape& shape, std::optional<DType> dtype) {
  return filled(shape, 0, dtype.value_or(default_float_dtype()));
}
Array ones(const Shape& shape, std::optional<DType> dtype) {
  return filled(shape, 1, dtype.value_or(default_float_dtype()));
}
Array full(const Shape& shape, const Array& value, std::optional<DType> dtype) {
  check_operand("full", value);
  (void)num_elements(shape);
  check_broadcasts_to("full", value.abstract_value(), shape);
  const PromotedType type =
      dtype ? PromotedType{*dtype, false} : promote_types(type_of(value), type_of(value));
  return convert_and_broadcast(value, type, shape);
}
Array zeros_like(const Array& x, std::optional<DType> dtype) {
  check_operand("zeros_like", x);
  return zeros(x.shape(), dtype.value_or(x.dtype()));
}
Array ones_like(const Array& x, std::optional<DType> dtype) {
  check_operand("ones_like", x);
  return ones(x.shape(), dtype.value_or(x.dtype()));
}
Array full_like(const Array& x, const Array& value, std::optional<DType> dtype) {
  check_operand("full_like", x);
  return full(x.shape(), value, dtype.value_or(x.dtype()));
}

Array arange(std::int64_t stop, std::optional<DType> dtype) {
  return arange(0, stop, 1, dtype);
}
Array arange(std::int64_t start, std::int64_t stop, std::int64_t step, std::optional<DType> dtype) {
  if (step == 0) {
    throw_value_error("arange", fmt::format("from {} to {} with step 0 never ends; the step must "
                                            "not be 0",
                                            start, stop));
  }
  const std::int64_t span = step > 0 ? stop - start : start - stop;
  const std::int64_t size = step > 0 ? step : -step;
  const std::int64_t length = span <= 0 ? 0 : (span + size - 1) / size;
  const DType type = dtype.value_or(default_int_dtype());
  Array result = iota(type, length);
  if (step != 1) result = multiply(result, step);
  return start == 0 ? result : add(result, start);
}
Array iota(DType dtype, std::int64_t length) {
  return broadcasted_iota(dtype, {length}, 0);
}
Array broadcasted_iota(DType dtype, const Shape& shape, std::int64_t dimension) {
  (void)num_elements(shape);
  const auto ndim = static_cast<std::int64_t>(shape.size());
  return apply_one(primitives::iota(dtype, shape, normalize_axis("iota", dimension, ndim)), {});
}
Array linspace(double start, double stop, std::int64_t num, const LinspaceOptions& options) {
  if (num < 0) {
    throw_value_error("linspace", fmt::format("num is {}; it cannot be negative", num));
  }
  const DType dtype = options.dtype.value_or(default_float_dtype());
  const DType computed = is_floating(dtype) ? dtype : default_float_dtype();
  const std::int64_t steps = options.endpoint ? num - 1 : num;
  if (steps <= 0) return full({num}, start, dtype);
  // Both ends weighted, so that they come out exactly.
  const Array t = divide(iota(computed, num), static_cast<double>(steps));
  Array result = add(multiply(subtract(1.0, t), start), multiply(t, stop));
  if (options.endpoint) {
    result = where(equal(iota(DType::Int32, num), num - 1), stop, result);
  }
  return is_floating(dtype) ? result : astype(floor(result), dtype);
}
Array eye(std::int64_t n, const EyeOptions& options) {
  const auto [row, column] = row_and_column(n, options.m.value_or(n));
  return astype(equal(add(row, options.k), column), options.dtype.value_or(default_float_dtype()));
}
Array tri(std::int64_t n, const EyeOptions& options) {
  const auto [row, column] = row_and_column(n, options.m.value_or(n));
  return astype(greater_equal(add(row, options.k), column),
                options.dtype.value_or(default_float_dtype()));
}

}  // namespace lockstep
