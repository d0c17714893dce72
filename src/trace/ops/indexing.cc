#include "lockstep/trace/indexing.h"

#include <fmt/format.h>

#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/literals.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

Array integer_operand(std::string_view where, const Array& indices) {
  const Array value = operand(where, indices);
  if (is_integer(value.dtype())) return value;
  throw_value_error(where, fmt::format("indices are {}; they must be integers (use where for a "
                                       "mask)",
                                       to_string(value.abstract_value())));
}

// Indices so wide that no length of an axis overflows them.
Array wide_enough(const Array& indices, std::int64_t length) {
  if (bit_width(indices.dtype()) >= 32) return indices;
  return astype(indices,
                length > std::numeric_limits<std::int32_t>::max() ? DType::Int64 : DType::Int32);
}

// Indices in [0, length), and where they were so before (null for Clip, where it does not matter).
struct SafeIndices {
  Array indices;
  Array valid;
};

SafeIndices made_safe(const Array& given, std::int64_t length, IndexMode mode) {
  const Array indices = wide_enough(given, length);
  const bool is_signed = is_signed_integer(indices.dtype());
  if (mode == IndexMode::Clip) {
    Array safe = minimum(indices, length - 1);
    if (is_signed) safe = maximum(safe, 0);
    return {safe, {}};
  }
  Array counted = indices;
  if (is_signed)
    counted = select(less(indices, zeros_like(indices)), add(indices, length), indices);
  Array valid = less(counted, length);
  if (is_signed) valid = logical_and(valid, greater_equal(counted, zeros_like(counted)));
  return {counted, valid};
}

// What a fill puts: NaN, the least integer, the greatest unsigned one.
Array fill_value(DType dtype) {
  if (is_floating(dtype) || is_complex(dtype)) {
    return full({}, std::numeric_limits<double>::quiet_NaN(), dtype);
  }
  if (is_unsigned_integer(dtype) || dtype == DType::Bool) return highest(dtype);
  return lowest(dtype);
}

void check_not_empty(std::string_view where, const Array& x, std::int64_t axis,
                     const Array& indices) {
  if (at(x.shape(), axis) != 0 || indices.size() == 0) return;
  throw_value_error(where, fmt::format("axis {} of {} has length 0, but there are {} indices; "
                                       "nothing can be taken from it",
                                       axis, to_string(x.abstract_value()), indices.size()));
}

}  // namespace

Array gather(const Array& operand_array, const Array& start_indices,
             const GatherDimensionNumbers& dimensions, const Shape& slice_sizes) {
  return apply_one(primitives::gather(dimensions, slice_sizes),
                   std::vector<Array>{operand("gather", operand_array),
                                      integer_operand("gather", start_indices)});
}

Array scatter_add(const Array& operand_array, const Array& indices, const Array& updates,
                  const ScatterDimensionNumbers& dimensions) {
  return apply_one(
      primitives::scatter_add(dimensions),
      std::vector<Array>{operand("scatter_add", operand_array),
                         integer_operand("scatter_add", indices), operand("scatter_add", updates)});
}

Array take(const Array& x, const Array& indices, const TakeOptions& options) {
  Array value = operand("take", x);
  if (!options.axis) value = ravel(value);
  const std::int64_t axis = options.axis ? normalize_axis("take", *options.axis, value.ndim()) : 0;
  const Array places = integer_operand("take", indices);
  check_not_empty("take", value, axis, places);
  const SafeIndices safe = made_safe(places, at(value.shape(), axis), options.mode);
  GatherDimensionNumbers dimensions{.collapsed_slice_dims = {axis}, .start_index_map = {axis}};
  Shape sizes = value.shape();
  sizes[static_cast<std::size_t>(axis)] = std::min<std::int64_t>(1, at(value.shape(), axis));
  for (std::int64_t i = 0; i < value.ndim(); ++i) {
    if (i != axis) dimensions.offset_dims.push_back(i < axis ? i : i + places.ndim() - 1);
  }
  if (at(value.shape(), axis) == 0) {
    Shape shape = value.shape();
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, places.shape().begin(), places.shape().end());
    return zeros(shape, value.dtype());
  }
  const Array taken = gather(value, expand_dims(safe.indices, -1), dimensions, sizes);
  if (safe.valid.is_null()) return taken;
  std::vector<std::int64_t> index_axes = range(places.ndim());
  for (std::int64_t& i : index_axes) i += axis;
  return select(broadcast_in_dim(safe.valid, taken.shape(), index_axes), taken,
                broadcast_to(fill_value(taken.dtype()), taken.shape()));
}

Array take_along_axis(const Array& x, const Array& indices, std::int64_t axis,
                      const TakeAlongAxisOptions& options) {
  constexpr std::string_view where = "take_along_axis";
  Array value = operand(where, x);
  Array places = integer_operand(where, indices);
  if (value.ndim() != places.ndim()) {
    throw_value_error(
        where, fmt::format("{} and indices {} must have equally many axes; add axes of "
                           "length 1 with expand_dims",
                           to_string(value.abstract_value()), to_string(places.abstract_value())));
  }
  const std::int64_t place = normalize_axis(where, axis, value.ndim());
  const auto at_axis = static_cast<std::size_t>(place);
  // All axes but one broadcast.
  Shape x_others = value.shape();
  Shape index_others = places.shape();
  x_others[at_axis] = 1;
  index_others[at_axis] = 1;
  Shape shape = broadcast_shapes(where, std::vector<Shape>{x_others, index_others});
  Shape x_shape = shape;
  x_shape[at_axis] = value.shape()[at_axis];
  shape[at_axis] = places.shape()[at_axis];
  value = broadcast_to(value, x_shape);
  places = broadcast_to(places, shape);
  check_not_empty(where, value, place, places);
  if (num_elements(shape) == 0) return zeros(shape, value.dtype());
  const SafeIndices safe = made_safe(places, x_shape[at_axis], options.mode);
  const std::vector<std::int64_t> others = remaining_axes(value.ndim(), std::span(&place, 1));
  const Array taken = gather(value, expand_dims(safe.indices, -1),
                             {.collapsed_slice_dims = {place},
                              .start_index_map = {place},
                              .operand_batching_dims = others,
                              .start_indices_batching_dims = others},
                             Shape(x_shape.size(), 1));
  if (safe.valid.is_null()) return taken;
  return select(safe.valid, taken, broadcast_to(fill_value(taken.dtype()), shape));
}

Array one_hot(const Array& indices, std::int64_t num_classes, const OneHotOptions& options) {
  const Array value = operand("one_hot", indices);
  if (num_classes < 0) {
    throw_value_error("one_hot",
                      fmt::format("num_classes is {}; it cannot be negative", num_classes));
  }
  const std::int64_t axis = normalize_axis("one_hot", options.axis, value.ndim() + 1);
  Shape shape = value.shape();
  shape.insert(shape.begin() + axis, num_classes);
  const Array classes =
      broadcasted_iota(value.dtype() == DType::Bool ? DType::Int32 : value.dtype(), shape, axis);
  const Array spread =
      broadcast_in_dim(value, shape, remaining_axes(value.ndim() + 1, std::span(&axis, 1)));
  return astype(equal(spread, classes), options.dtype.value_or(default_float_dtype()));
}

Array at_add(const Array& x, const Array& indices, const Array& values) {
  const Array value = operand("at_add", x);
  const Array given = integer_operand("at_add", indices);
  if (value.ndim() == 0) {
    throw_value_error("at_add", fmt::format("{} is a scalar and has no axis to index",
                                            to_string(value.abstract_value())));
  }
  const std::int64_t length = value.shape()[0];
  const Array places = wide_enough(given, length);
  const Array counted = is_signed_integer(places.dtype())
                            ? select(less(places, zeros_like(places)), add(places, length), places)
                            : places;
  Shape update_shape = places.shape();
  update_shape.insert(update_shape.end(), value.shape().begin() + 1, value.shape().end());
  check_broadcasts_to("at_add", values.abstract_value(), update_shape);
  std::vector<std::int64_t> window = range(value.ndim() - 1);
  for (std::int64_t& axis : window) axis += places.ndim();
  const Array updates = broadcast_to(literal_of(values) || values.dtype() != value.dtype()
                                         ? astype(values, value.dtype())
                                         : values,
                                     update_shape);
  return scatter_add(value, expand_dims(counted, -1), updates,
                     {.update_window_dims = window,
                      .inserted_window_dims = {0},
                      .scatter_dims_to_operand_dims = {0}});
}

}  // namespace lockstep
