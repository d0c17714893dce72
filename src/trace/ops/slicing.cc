// Ops that take or put a part: slices, padding, windows at computed places.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/promotion.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/literals.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

// A start as an index that fits: the length is added to a negative one.
Array wrapped_start(std::string_view where, const Array& start, std::int64_t length) {
  Array index = operand(where, start);
  if (index.ndim() != 0 || !is_integer(index.dtype())) {
    throw_value_error(where, fmt::format("a start is {}; starts are integer scalars, one for each axis",
                                         to_string(index.abstract_value())));
  }
  // Narrow types may not hold the length of the axis.
  if (byte_size(index.dtype()) < 4) index = astype(index, DType::Int32);
  if (is_unsigned_integer(index.dtype())) return index;
  return select(less(index, zeros_like(index)), index + full_like(index, length), index);
}

std::vector<Array> wrapped_starts(std::string_view where, const Array& x, const std::vector<Array>& starts) {
  if (static_cast<std::int64_t>(starts.size()) != x.ndim()) {
    throw_value_error(where, fmt::format("{} starts for {}; give one for each axis", starts.size(),
                                         to_string(x.abstract_value())));
  }
  std::vector<Array> wrapped;
  for (std::size_t i = 0; i < starts.size(); ++i) wrapped.push_back(wrapped_start(where, starts[i], x.shape()[i]));
  // The primitive takes indices of one type.
  return wrapped.empty() ? wrapped : promote_and_broadcast(where, wrapped);
}

// Zero starts but along `axis`.
std::vector<Array> starts_along(const Array& x, const Array& start, std::int64_t axis) {
  std::vector<Array> starts(static_cast<std::size_t>(x.ndim()), Array(0));
  starts[static_cast<std::size_t>(axis)] = start;
  return starts;
}

}  // namespace

Array slice(const Array& x, const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& limits,
            const std::vector<std::int64_t>& strides) {
  const Array value = operand("slice", x);
  std::vector<std::int64_t> steps = strides;
  if (steps.empty()) steps.assign(starts.size(), 1);
  return apply_one(primitives::slice(starts, limits, std::move(steps)), std::vector<Array>{value});
}

Array slice_in_dim(const Array& x, std::int64_t start, std::int64_t limit, std::int64_t stride, std::int64_t axis) {
  const Array value = operand("slice_in_dim", x);
  const std::int64_t dimension = normalize_axis("slice_in_dim", axis, value.ndim());
  const std::int64_t length = at(value.shape(), dimension);
  std::vector<std::int64_t> starts(value.shape().size(), 0);
  std::vector<std::int64_t> limits = value.shape();
  std::vector<std::int64_t> strides(value.shape().size(), 1);
  const auto place = static_cast<std::size_t>(dimension);
  starts[place] = start < 0 ? start + length : start;
  limits[place] = limit < 0 ? limit + length : limit;
  strides[place] = stride;
  if (starts[place] == 0 && limits[place] == length && stride == 1) return value;
  return slice(value, starts, limits, strides);
}

Array index_in_dim(const Array& x, std::int64_t index, std::int64_t axis) {
  const Array value = operand("index_in_dim", x);
  const std::int64_t dimension = normalize_axis("index_in_dim", axis, value.ndim());
  const std::int64_t length = at(value.shape(), dimension);
  const std::int64_t place = index < 0 ? index + length : index;
  if (place < 0 || place >= length) {
    throw_value_error("index_in_dim", fmt::format("index {} is out of range for axis {} of {}", index, dimension,
                                                  to_string(value.abstract_value())));
  }
  return squeeze(slice_in_dim(value, place, place + 1, 1, dimension), dimension);
}

Array pad(const Array& x, const std::vector<PaddingDimension>& padding, const Array& value) {
  const Array inner = operand("pad", x);
  check_operand("pad", value);
  if (value.ndim() != 0) {
    throw_value_error("pad", fmt::format("the padding value is {}; it must be a scalar", to_string(value.abstract_value())));
  }
  if (std::all_of(padding.begin(), padding.end(), [](const auto& p) { return p == PaddingDimension(); }) &&
      padding.size() == inner.shape().size()) {
    return inner;
  }
  return apply_one(primitives::pad(padding),
                   std::vector<Array>{inner, convert_and_broadcast(value, {inner.dtype(), false}, {})});
}

Array dynamic_slice(const Array& x, const std::vector<Array>& starts, const Shape& sizes) {
  const Array value = operand("dynamic_slice", x);
  std::vector<Array> inputs{value};
  for (Array& start : wrapped_starts("dynamic_slice", value, starts)) inputs.push_back(std::move(start));
  return apply_one(primitives::dynamic_slice(sizes), inputs);
}

Array dynamic_update_slice(const Array& x, const Array& update, const std::vector<Array>& starts) {
  const Array value = operand("dynamic_update_slice", x);
  check_operand("dynamic_update_slice", update);
  std::vector<Array> inputs{value, convert_and_broadcast(update, type_of(value), update.shape())};
  for (Array& start : wrapped_starts("dynamic_update_slice", value, starts)) inputs.push_back(std::move(start));
  return apply_one(primitives::dynamic_update_slice(), inputs);
}

Array dynamic_slice_in_dim(const Array& x, const Array& start, std::int64_t size, std::int64_t axis) {
  const Array value = operand("dynamic_slice_in_dim", x);
  const std::int64_t dimension = normalize_axis("dynamic_slice_in_dim", axis, value.ndim());
  Shape sizes = value.shape();
  sizes[static_cast<std::size_t>(dimension)] = size;
  return dynamic_slice(value, starts_along(value, start, dimension), sizes);
}

Array dynamic_update_slice_in_dim(const Array& x, const Array& update, const Array& start, std::int64_t axis) {
  const Array value = operand("dynamic_update_slice_in_dim", x);
  const std::int64_t dimension = normalize_axis("dynamic_update_slice_in_dim", axis, value.ndim());
  return dynamic_update_slice(value, update, starts_along(value, start, dimension));
}

Array dynamic_index_in_dim(const Array& x, const Array& index, std::int64_t axis) {
  const Array value = operand("dynamic_index_in_dim", x);
  const std::int64_t dimension = normalize_axis("dynamic_index_in_dim", axis, value.ndim());
  return squeeze(dynamic_slice_in_dim(value, index, 1, dimension), dimension);
}

}  // namespace lockstep
