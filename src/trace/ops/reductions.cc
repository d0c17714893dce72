#include "lockstep/trace/reductions.h"

#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/promotion.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/literals.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

using primitives::Reduction;

Shape kept_shape(Shape shape, const std::vector<std::int64_t>& axes) {
  for (const std::int64_t axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
  return shape;
}

Array reduced(Reduction kind, const Array& x, const std::vector<std::int64_t>& axes,
              bool keepdims) {
  const Array result =
      axes.empty() ? x : apply_one(primitives::reduce(kind, axes), std::vector<Array>{x});
  return keepdims ? reshape(result, kept_shape(x.shape(), axes)) : result;
}

// The type that sums and products of `dtype` have.
DType accumulator(DType dtype) {
  if (dtype == DType::Bool) return default_int_dtype();
  if (!is_integer(dtype)) return dtype;
  const DType wide = is_unsigned_integer(dtype) ? default_uint_dtype() : default_int_dtype();
  return bit_width(dtype) < bit_width(wide) ? wide : dtype;
}

bool is_half(DType dtype) {
  return is_floating(dtype) && byte_size(dtype) < 4;
}

Array accumulated(Reduction kind, std::string_view where, const Array& x,
                  const ReduceOptions& options) {
  Array value = operand(where, x);
  const DType dtype = options.dtype.value_or(accumulator(value.dtype()));
  if (value.dtype() != dtype) value = astype(value, dtype);
  const std::vector<std::int64_t> axes = options.axis.normalized(where, value.ndim());
  if (!is_half(dtype)) return reduced(kind, value, axes, options.keepdims);
  return astype(reduced(kind, astype(value, DType::Float32), axes, options.keepdims), dtype);
}

Array extreme(Reduction kind, std::string_view where, const Array& x,
              const ReduceOptions& options) {
  const Array value = operand(where, x);
  return reduced(kind, value, options.axis.normalized(where, value.ndim()), options.keepdims);
}

Array truth_of(Reduction kind, std::string_view where, const Array& x,
               const ReduceOptions& options) {
  Array value = operand(where, x);
  if (value.dtype() != DType::Bool) value = not_equal(value, zeros_like(value));
  return reduced(kind, value, options.axis.normalized(where, value.ndim()), options.keepdims);
}

std::int64_t count(const Shape& shape, const std::vector<std::int64_t>& axes) {
  std::int64_t product = 1;
  for (const std::int64_t axis : axes) product *= at(shape, axis);
  return product;
}

Array extreme_index(bool largest, std::string_view where, const Array& x,
                    const ArgReduceOptions& options) {
  Array value = operand(where, x);
  const Shape shape = value.shape();
  if (!options.axis) value = ravel(value);
  const std::int64_t axis = options.axis ? normalize_axis(where, *options.axis, value.ndim()) : 0;
  const Array result = apply_one(largest ? primitives::argmax(axis, default_int_dtype())
                                         : primitives::argmin(axis, default_int_dtype()),
                                 std::vector<Array>{value});
  if (!options.keepdims) return result;
  return reshape(result,
                 kept_shape(shape, options.axis ? std::vector{axis}
                                                : range(static_cast<std::int64_t>(shape.size()))));
}

}  // namespace

Array sum(const Array& x, const ReduceOptions& options) {
  return accumulated(Reduction::Sum, "sum", x, options);
}
Array prod(const Array& x, const ReduceOptions& options) {
  return accumulated(Reduction::Prod, "prod", x, options);
}
Array mean(const Array& x, const ReduceOptions& options) {
  Array value = inexact_operand("mean", x);
  const DType dtype = options.dtype.value_or(value.dtype());
  const std::vector<std::int64_t> axes = options.axis.normalized("mean", value.ndim());
  const auto n = static_cast<double>(count(value.shape(), axes));
  const DType computed = is_half(dtype) ? DType::Float32 : dtype;
  value = astype(value, computed);
  const Array result = divide(reduced(Reduction::Sum, value, axes, options.keepdims), n);
  return astype(result, dtype);
}
Array max(const Array& x, const ReduceOptions& options) {
  return extreme(Reduction::Max, "max", x, options);
}
Array min(const Array& x, const ReduceOptions& options) {
  return extreme(Reduction::Min, "min", x, options);
}
Array any(const Array& x, const ReduceOptions& options) {
  return truth_of(Reduction::Or, "any", x, options);
}
Array all(const Array& x, const ReduceOptions& options) {
  return truth_of(Reduction::And, "all", x, options);
}
Array argmax(const Array& x, const ArgReduceOptions& options) {
  return extreme_index(true, "argmax", x, options);
}
Array argmin(const Array& x, const ArgReduceOptions& options) {
  return extreme_index(false, "argmin", x, options);
}

Array var(const Array& x, const VarOptions& options) {
  const Array given = inexact_operand("var", x);
  const DType dtype = given.dtype();
  const Array value = is_half(dtype) ? astype(given, DType::Float32) : given;
  const std::vector<std::int64_t> axes = options.axis.normalized("var", value.ndim());
  const Array centred = subtract(value, mean(value, {.axis = axes, .keepdims = true}));
  const auto n = static_cast<double>(count(value.shape(), axes) - options.ddof);
  // Not a number where nothing is left to divide by, as 0 / 0.
  const Array result =
      divide(reduced(Reduction::Sum, square(centred), axes, options.keepdims), n > 0 ? n : 0.0);
  return astype(n < 0 ? full_like(result, std::numeric_limits<double>::quiet_NaN()) : result,
                dtype);
}
Array std_(const Array& x, const VarOptions& options) {
  return sqrt(var(x, options));
}

Array logsumexp(const Array& x, const ReduceOptions& options) {
  const Array value = inexact_operand("logsumexp", x);
  const std::vector<std::int64_t> axes = options.axis.normalized("logsumexp", value.ndim());
  if (count(value.shape(), axes) == 0) {
    return log(reduced(Reduction::Sum, value, axes, options.keepdims));
  }
  const Array most = stop_gradient(reduced(Reduction::Max, value, axes, true));
  const Array shift = select(isfinite(most), most, zeros_like(most));
  const Array total =
      sum(exp(subtract(value, shift)), {.axis = axes, .keepdims = options.keepdims});
  return add(log(total), reshape(shift, total.shape()));
}

Array cumsum(const Array& x, std::int64_t axis) {
  Array value = operand("cumsum", x);
  if (value.dtype() == DType::Bool) value = astype(value, default_int_dtype());
  return apply_one(primitives::cumsum(normalize_axis("cumsum", axis, value.ndim()), false),
                   std::vector<Array>{value});
}

namespace {
// x shifted so that its largest element along the axes is 0.
Array shifted(const Array& x, const std::vector<std::int64_t>& axes) {
  return subtract(x, stop_gradient(reduced(Reduction::Max, x, axes, true)));
}
}  // namespace

Array softmax(const Array& x, const AxisSet& axis) {
  const Array value = inexact_operand("softmax", x);
  const std::vector<std::int64_t> axes = axis.normalized("softmax", value.ndim());
  if (value.size() == 0) return value;
  const Array unnormalized = exp(shifted(value, axes));
  return divide(unnormalized, sum(unnormalized, {.axis = axes, .keepdims = true}));
}
Array log_softmax(const Array& x, const AxisSet& axis) {
  const Array value = inexact_operand("log_softmax", x);
  const std::vector<std::int64_t> axes = axis.normalized("log_softmax", value.ndim());
  if (value.size() == 0) return value;
  const Array small = shifted(value, axes);
  return subtract(small, log(sum(exp(small), {.axis = axes, .keepdims = true})));
}

}  // namespace lockstep
