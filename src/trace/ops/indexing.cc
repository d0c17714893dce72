// Reading and writing at computed places.
#include "lockstep/trace/indexing.h"

#include <fmt/format.h>

#include <limits>

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

using Axes = std::vector<std::int64_t>;

Array index_operand(std::string_view where, const Array& indices) {
  const Array value = operand(where, indices);
  if (is_integer(value.dtype()))
    return byte_size(value.dtype()) < 4 ? astype(value, DType::Int32) : value;
  throw_value_error(where, fmt::format("the indices are {}; they must be integers",
                                       to_string(value.abstract_value())));
}

// A negative index counts from the end, once.
Array wrapped(const Array& indices, std::int64_t length) {
  if (is_unsigned_integer(indices.dtype())) return indices;
  return select(less(indices, zeros_like(indices)), indices + full_like(indices, length), indices);
}

Array is_inside(const Array& indices, std::int64_t length) {
  return logical_and(greater_equal(indices, zeros_like(indices)),
                     less(indices, full_like(indices, length)));
}

Array clamped(const Array& indices, std::int64_t length) {
  return clip(indices, zeros_like(indices),
              full_like(indices, std::max<std::int64_t>(length - 1, 0)));
}

// What an element that is not there reads as.
Array fill_value(DType dtype) {
  if (is_floating(dtype)) return full({}, std::numeric_limits<double>::quiet_NaN(), dtype);
  if (is_unsigned_integer(dtype)) return highest(dtype);
  return dtype == DType::Bool ? full({}, true) : lowest(dtype);
}

// The slices of x at (valid) indices along `axis`.
Array gather_along(const Array& x, const Array& indices, std::int64_t axis) {
  GatherDimensionNumbers dimensions;
  for (std::int64_t i = 0; i < axis; ++i) dimensions.offset_dims.push_back(i);
  for (std::int64_t i = axis + 1; i < x.ndim(); ++i)
    dimensions.offset_dims.push_back(i - 1 + indices.ndim());
  dimensions.collapsed_slice_dims = {axis};
  dimensions.start_index_map = {axis};
  Shape sizes = x.shape();
  sizes[static_cast<std::size_t>(axis)] = 1;
  return gather(x, expand_dims(indices, indices.ndim()), dimensions, sizes);
}

}  // namespace

Array take(const Array& x, const Array& indices, const TakeOptions& options) {
  Array value = operand("take", x);
  const Array raw = index_operand("take", indices);
  if (!options.axis) value = ravel(value);
  const std::int64_t axis = options.axis ? normalize_axis("take", *options.axis, value.ndim()) : 0;
  const std::int64_t length = at(value.shape(), axis);
  if (length == 0 && raw.size() > 0) {
    throw_value_error("take", fmt::format("axis {} of {} is empty, so no index is valid", axis,
                                          to_string(value.abstract_value())));
  }
  if (options.mode == IndexMode::Clip) return gather_along(value, clamped(raw, length), axis);
  const Array index = wrapped(raw, length);
  const Array taken = gather_along(value, clamped(index, length), axis);
  // Inside or not is one answer for a whole slice.
  Axes places = range(raw.ndim());
  for (std::int64_t& place : places) place += axis;
  const Array inside = broadcast_in_dim(is_inside(index, length), taken.shape(), places);
  return where(inside, taken, fill_value(value.dtype()));
}

Array take_along_axis(const Array& x, const Array& indices, std::int64_t axis,
                      const TakeAlongAxisOptions& options) {
  const Array value = operand("take_along_axis", x);
  const Array raw = index_operand("take_along_axis", indices);
  if (value.ndim() != raw.ndim() || value.ndim() == 0) {
    throw_value_error(
        "take_along_axis",
        fmt::format("{} and the indices {} must have equally many axes, at least one",
                    to_string(value.abstract_value()), to_string(raw.abstract_value())));
  }
  const std::int64_t dimension = normalize_axis("take_along_axis", axis, value.ndim());
  const auto place = static_cast<std::size_t>(dimension);
  const std::int64_t length = value.shape()[place];
  // Outside of the axis both broadcast to one shape.
  Shape value_outer = value.shape();
  Shape index_outer = raw.shape();
  value_outer[place] = index_outer[place] = 1;
  const std::vector<Shape> outers{value_outer, index_outer};
  Shape value_shape = broadcast_shapes("take_along_axis", outers);
  Shape index_shape = value_shape;
  value_shape[place] = length;
  index_shape[place] = raw.shape()[place];
  const Array whole = broadcast_to(value, value_shape);
  const Array places = broadcast_to(raw, index_shape);
  const bool fills = options.mode == IndexMode::Fill;
  const Array index = fills ? wrapped(places, length) : places;

  GatherDimensionNumbers dimensions;
  dimensions.collapsed_slice_dims = {dimension};
  dimensions.start_index_map = {dimension};
  for (std::int64_t i = 0; i < value.ndim(); ++i) {
    if (i == dimension) continue;
    dimensions.operand_batching_dims.push_back(i);
    dimensions.start_indices_batching_dims.push_back(i);
  }
  const Array taken = gather(whole, expand_dims(clamped(index, length), raw.ndim()), dimensions,
                             Shape(value.shape().size(), 1));
  if (!fills) return taken;
  return where(is_inside(index, length), taken, fill_value(value.dtype()));
}

Array one_hot(const Array& indices, std::int64_t num_classes, const OneHotOptions& options) {
  const Array raw = operand("one_hot", indices);
  const std::int64_t axis = normalize_axis("one_hot", options.axis, raw.ndim() + 1);
  const Array expanded = expand_dims(raw, axis);
  Shape shape = raw.shape();
  shape.insert(shape.begin() + axis, num_classes);
  const Array classes = broadcasted_iota(raw.dtype(), shape, axis);
  return astype(equal(broadcast_to(expanded, shape), classes),
                options.dtype.value_or(default_float_dtype()));
}

Array gather(const Array& operand_array, const Array& start_indices,
             const GatherDimensionNumbers& dimensions, const Shape& slice_sizes) {
  return apply_one(
      primitives::gather(dimensions, slice_sizes),
      std::vector<Array>{operand("gather", operand_array), operand("gather", start_indices)});
}

Array scatter_add(const Array& operand_array, const Array& indices, const Array& updates,
                  const ScatterDimensionNumbers& dimensions) {
  const Array value = operand("scatter_add", operand_array);
  check_operand("scatter_add", updates);
  return apply_one(
      primitives::scatter_add(dimensions),
      std::vector<Array>{value, operand("scatter_add", indices),
                         convert_and_broadcast(updates, type_of(value), updates.shape())});
}

Array at_add(const Array& x, const Array& indices, const Array& values) {
  const Array value = operand("at_add", x);
  if (value.ndim() == 0) throw_value_error("at_add", "a scalar has no axis to index");
  const std::int64_t length = value.shape()[0];
  const Array index = wrapped(index_operand("at_add", indices), length);
  check_operand("at_add", values);
  Shape shape = index.shape();
  shape.insert(shape.end(), value.shape().begin() + 1, value.shape().end());
  ScatterDimensionNumbers dimensions{.inserted_window_dims = {0},
                                     .scatter_dims_to_operand_dims = {0}};
  for (std::int64_t i = 1; i < value.ndim(); ++i)
    dimensions.update_window_dims.push_back(index.ndim() + i - 1);
  return scatter_add(value, expand_dims(index, index.ndim()),
                     convert_and_broadcast(values, type_of(value), shape), dimensions);
}

}  // namespace lockstep
