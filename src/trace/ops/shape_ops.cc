#include "lockstep/trace/shape_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "trace/literals.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

Array applied(const primitives::PrimitivePtr& primitive, const Array& x) {
  return apply_one(primitive, std::vector<Array>{x});
}

}  // namespace

Array broadcast_to(const Array& x, const Shape& shape) {
  const Array value = operand("broadcast_to", x);
  if (value.shape() == shape) return value;
  if (value.ndim() > static_cast<std::int64_t>(shape.size())) {
    throw_value_error("broadcast_to",
                      fmt::format("{} has more axes than shape {}; broadcasting only adds axes",
                                  to_string(value.abstract_value()), to_string(shape)));
  }
  std::vector<std::int64_t> dimensions;
  const auto added = static_cast<std::int64_t>(shape.size()) - value.ndim();
  for (std::int64_t i = 0; i < value.ndim(); ++i) dimensions.push_back(added + i);
  return broadcast_in_dim(value, shape, dimensions);
}

Array broadcast_in_dim(const Array& x, const Shape& shape,
                       const std::vector<std::int64_t>& dimensions) {
  return applied(primitives::broadcast_in_dim(shape, dimensions), operand("broadcast_in_dim", x));
}

Array reshape(const Array& x, const Shape& shape) {
  const Array value = operand("reshape", x);
  if (value.shape() == shape) return value;
  Shape complete = shape;
  std::int64_t known = 1;
  std::int64_t* unknown = nullptr;
  for (std::int64_t& length : complete) {
    if (length != -1) {
      known *= length;
    } else if (unknown != nullptr) {
      throw_value_error("reshape",
                        fmt::format("shape {} for {} has more than one -1; at most one "
                                    "length can be computed",
                                    to_string(shape), to_string(value.abstract_value())));
    } else {
      unknown = &length;
    }
  }
  if (unknown != nullptr) {
    if (known <= 0 || value.size() % known != 0) {
      throw_value_error(
          "reshape",
          fmt::format("{} has {} elements, which do not divide by the other "
                      "lengths of shape {}",
                      to_string(value.abstract_value()), value.size(), to_string(shape)));
    }
    *unknown = value.size() / known;
  }
  return applied(primitives::reshape(complete), value);
}

Array ravel(const Array& x) {
  return reshape(x, {-1});
}

Array transpose(const Array& x) {
  std::vector<std::int64_t> order = range(operand("transpose", x).ndim());
  std::reverse(order.begin(), order.end());
  return transpose(x, order);
}

Array transpose(const Array& x, const std::vector<std::int64_t>& permutation) {
  const Array value = operand("transpose", x);
  std::vector<std::int64_t> order;
  for (const std::int64_t axis : permutation) {
    order.push_back(axis < 0 && axis >= -value.ndim() ? axis + value.ndim() : axis);
  }
  if (static_cast<std::int64_t>(order.size()) == value.ndim() && order == range(value.ndim())) {
    return value;
  }
  return applied(primitives::transpose(std::move(order)), value);
}

Array swapaxes(const Array& x, std::int64_t axis1, std::int64_t axis2) {
  check_operand("swapaxes", x);
  std::vector<std::int64_t> order = range(x.ndim());
  std::swap(order[static_cast<std::size_t>(normalize_axis("swapaxes", axis1, x.ndim()))],
            order[static_cast<std::size_t>(normalize_axis("swapaxes", axis2, x.ndim()))]);
  return transpose(x, order);
}

Array moveaxis(const Array& x, std::int64_t source, std::int64_t destination) {
  check_operand("moveaxis", x);
  const std::int64_t from = normalize_axis("moveaxis", source, x.ndim());
  const std::int64_t to = normalize_axis("moveaxis", destination, x.ndim());
  std::vector<std::int64_t> order = remaining_axes(x.ndim(), std::span(&from, 1));
  order.insert(order.begin() + to, from);
  return transpose(x, order);
}

Array squeeze(const Array& x, const AxisSet& axis) {
  const Array value = operand("squeeze", x);
  std::vector<std::int64_t> axes;
  for (const std::int64_t a : axis.normalized("squeeze", value.ndim())) {
    if (at(value.shape(), a) == 1) {
      axes.push_back(a);
    } else if (!axis.is_all()) {
      throw_value_error("squeeze",
                        fmt::format("axis {} of {} has length {}; only axes of length 1 "
                                    "can be dropped",
                                    a, to_string(value.abstract_value()), at(value.shape(), a)));
    }
  }
  return reshape(value, without_axes(value.shape(), axes));
}

Array expand_dims(const Array& x, const AxisSet& axis) {
  const Array value = operand("expand_dims", x);
  if (axis.is_all()) {
    throw_value_error("expand_dims", "no axis is named; say where the new axes stand");
  }
  const std::int64_t ndim = value.ndim() + static_cast<std::int64_t>(axis.size());
  const std::vector<std::int64_t> axes = axis.normalized("expand_dims", ndim);
  Shape shape;
  std::size_t next = 0;
  for (std::int64_t i = 0; i < ndim; ++i) {
    shape.push_back(contains(axes, i) ? 1 : value.shape()[next++]);
  }
  return reshape(value, shape);
}

Array concatenate(const std::vector<Array>& arrays, std::int64_t axis) {
  if (arrays.empty()) {
    throw_value_error("concatenate", "no arrays given; at least one is needed");
  }
  for (const Array& array : arrays) check_operand("concatenate", array);
  const std::int64_t place = normalize_axis("concatenate", axis, arrays[0].ndim());
  const PromotedType type = result_type(arrays);
  std::vector<Array> converted;
  for (const Array& array : arrays) {
    converted.push_back(convert_and_broadcast(array, type, array.shape()));
  }
  if (converted.size() == 1) return converted[0];
  return apply_one(primitives::concatenate(place), converted);
}

Array stack(const std::vector<Array>& arrays, std::int64_t axis) {
  if (arrays.empty()) throw_value_error("stack", "no arrays given; at least one is needed");
  std::vector<Array> expanded;
  for (const Array& array : arrays) {
    check_operand("stack", array);
    if (array.shape() != arrays[0].shape()) {
      throw_value_error("stack",
                        fmt::format("arrays have different shapes: {} and {}; stack needs "
                                    "equal ones",
                                    to_string(arrays[0].shape()), to_string(array.shape())));
    }
    expanded.push_back(expand_dims(array, axis));
  }
  return concatenate(expanded, normalize_axis("stack", axis, arrays[0].ndim() + 1));
}

std::vector<Array> split(const Array& x, std::int64_t sections, std::int64_t axis) {
  const Array value = operand("split", x);
  const std::int64_t place = normalize_axis("split", axis, value.ndim());
  const std::int64_t length = at(value.shape(), place);
  if (sections < 1 || length % sections != 0) {
    throw_value_error("split",
                      fmt::format("axis {} of {} has length {}, which does not divide into "
                                  "{} equal parts; name the places where it is cut",
                                  place, to_string(value.abstract_value()), length, sections));
  }
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 1; i < sections; ++i) indices.push_back(i * (length / sections));
  return split(value, indices, place);
}

std::vector<Array> split(const Array& x, const std::vector<std::int64_t>& indices,
                         std::int64_t axis) {
  const Array value = operand("split", x);
  const std::int64_t place = normalize_axis("split", axis, value.ndim());
  const std::int64_t length = at(value.shape(), place);
  std::vector<Array> parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i <= indices.size(); ++i) {
    std::int64_t limit = i == indices.size() ? length : indices[i];
    if (limit < 0) limit = std::max<std::int64_t>(limit + length, 0);
    limit = std::min(limit, length);
    parts.push_back(slice_in_dim(value, std::min(start, limit), limit, 1, place));
    start = limit;
  }
  return parts;
}

Array slice(const Array& x, const std::vector<std::int64_t>& starts,
            const std::vector<std::int64_t>& limits, const std::vector<std::int64_t>& strides) {
  const Array value = operand("slice", x);
  const std::vector<std::int64_t> steps =
      strides.empty() ? std::vector<std::int64_t>(starts.size(), 1) : strides;
  const bool is_whole = limits == value.shape() &&
                        starts == std::vector<std::int64_t>(limits.size(), 0) &&
                        steps == std::vector<std::int64_t>(limits.size(), 1);
  return is_whole ? value : applied(primitives::slice(starts, limits, steps), value);
}

Array slice_in_dim(const Array& x, std::int64_t start, std::int64_t limit, std::int64_t stride,
                   std::int64_t axis) {
  const Array value = operand("slice_in_dim", x);
  const auto place = static_cast<std::size_t>(normalize_axis("slice_in_dim", axis, value.ndim()));
  const std::int64_t length = value.shape()[place];
  std::vector<std::int64_t> starts(value.shape().size(), 0);
  std::vector<std::int64_t> limits = value.shape();
  std::vector<std::int64_t> strides(value.shape().size(), 1);
  starts[place] = start < 0 ? start + length : start;
  limits[place] = limit < 0 ? limit + length : limit;
  strides[place] = stride;
  return slice(value, starts, limits, strides);
}

Array index_in_dim(const Array& x, std::int64_t index, std::int64_t axis) {
  const Array value = operand("index_in_dim", x);
  const std::int64_t place = normalize_axis("index_in_dim", axis, value.ndim());
  const std::int64_t length = at(value.shape(), place);
  if (index < -length || index >= length) {
    throw_value_error("index_in_dim",
                      fmt::format("index {} is out of range for axis {} of {}, which "
                                  "has length {}",
                                  index, place, to_string(value.abstract_value()), length));
  }
  const std::int64_t start = index < 0 ? index + length : index;
  return squeeze(slice_in_dim(value, start, start + 1, 1, place), place);
}

Array pad(const Array& x, const std::vector<PaddingDimension>& padding, const Array& value) {
  const Array inside = operand("pad", x);
  check_operand("pad", value);
  const bool is_nothing =
      padding.size() == inside.shape().size() &&
      std::all_of(padding.begin(), padding.end(),
                  [](const PaddingDimension& p) { return p == PaddingDimension{}; });
  if (is_nothing) return inside;
  return apply_one(primitives::pad(padding),
                   std::vector<Array>{inside, value.dtype() == inside.dtype() && !literal_of(value)
                                                  ? value
                                                  : astype(value, inside.dtype())});
}

Array flip(const Array& x, const AxisSet& axis) {
  const Array value = operand("flip", x);
  const std::vector<std::int64_t> axes = axis.normalized("flip", value.ndim());
  return axes.empty() ? value : applied(primitives::reverse(axes), value);
}

Array tile(const Array& x, const Shape& repeats) {
  Array value = operand("tile", x);
  Shape shape = value.shape();
  Shape counts = repeats;
  while (shape.size() < counts.size()) shape.insert(shape.begin(), 1);
  while (counts.size() < shape.size()) counts.insert(counts.begin(), 1);
  // Each axis gets its count as an axis before it, along which it is broadcast.
  Shape spread;
  Shape result;
  std::vector<std::int64_t> dimensions;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    spread.push_back(counts[i]);
    dimensions.push_back(static_cast<std::int64_t>(spread.size()));
    spread.push_back(shape[i]);
    result.push_back(counts[i] * shape[i]);
  }
  return reshape(broadcast_in_dim(reshape(value, shape), spread, dimensions), result);
}

Array repeat(const Array& x, std::int64_t repeats, std::int64_t axis) {
  const Array value = operand("repeat", x);
  const std::int64_t place = normalize_axis("repeat", axis, value.ndim());
  Shape spread = value.shape();
  spread.insert(spread.begin() + place + 1, repeats);
  std::vector<std::int64_t> dimensions = remaining_axes(value.ndim() + 1, std::vector{place + 1});
  Shape result = value.shape();
  result[static_cast<std::size_t>(place)] *= repeats;
  return reshape(broadcast_in_dim(value, spread, dimensions), result);
}

Array roll(const Array& x, std::int64_t shift, std::int64_t axis) {
  const Array value = operand("roll", x);
  const std::int64_t place = normalize_axis("roll", axis, value.ndim());
  const std::int64_t length = at(value.shape(), place);
  if (length == 0) return value;
  const std::int64_t cut = ((-shift) % length + length) % length;
  if (cut == 0) return value;
  return concatenate(
      {slice_in_dim(value, cut, length, 1, place), slice_in_dim(value, 0, cut, 1, place)}, place);
}

namespace {
// Whether row + k >= column, for the last two axes.
Array lower_mask(std::string_view where, const Array& x, std::int64_t k) {
  if (x.ndim() < 2) {
    throw_value_error(where, fmt::format("takes matrices or stacks of them, got {}",
                                         to_string(x.abstract_value())));
  }
  const std::int64_t n = at(x.shape(), x.ndim() - 2);
  return broadcast_to(tri(n, {.m = x.shape().back(), .k = k, .dtype = DType::Bool}), x.shape());
}
}  // namespace

Array tril(const Array& x, std::int64_t k) {
  check_operand("tril", x);
  return select(lower_mask("tril", x, k), x, zeros_like(x));
}
Array triu(const Array& x, std::int64_t k) {
  check_operand("triu", x);
  return select(lower_mask("triu", x, k - 1), zeros_like(x), x);
}

namespace {
// Start indices of one type; negative ones count from the end.
std::vector<Array> start_indices(std::string_view where, const Array& x,
                                 const std::vector<Array>& starts) {
  if (static_cast<std::int64_t>(starts.size()) != x.ndim()) {
    throw_value_error(where, fmt::format("{} start indices for {}; there must be one for each axis",
                                         starts.size(), to_string(x.abstract_value())));
  }
  if (starts.empty()) return {};
  for (const Array& start : starts) {
    check_operand(where, start);
    if (is_integer(start.dtype()) && start.ndim() == 0) continue;
    throw_value_error(where, fmt::format("a start index is {}; it must be an integer scalar",
                                         to_string(start.abstract_value())));
  }
  const PromotedType type{result_type(starts).dtype, false};
  std::vector<Array> result;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (const auto literal = literal_of(starts[i])) {
      std::int64_t start = std::get<std::int64_t>(*literal);
      if (start < 0) start += x.shape()[i];
      result.push_back(make_literal(start, type, {}));
      continue;
    }
    const Array start = convert_and_broadcast(starts[i], type, {});
    result.push_back(is_unsigned_integer(type.dtype)
                         ? start
                         : select(less(start, 0), add(start, x.shape()[i]), start));
  }
  return result;
}
}  // namespace

Array dynamic_slice(const Array& x, const std::vector<Array>& starts, const Shape& sizes) {
  const Array value = operand("dynamic_slice", x);
  std::vector<Array> inputs = start_indices("dynamic_slice", value, starts);
  inputs.insert(inputs.begin(), value);
  return apply_one(primitives::dynamic_slice(sizes), inputs);
}

Array dynamic_update_slice(const Array& x, const Array& update, const std::vector<Array>& starts) {
  const Array value = operand("dynamic_update_slice", x);
  check_operand("dynamic_update_slice", update);
  std::vector<Array> inputs = start_indices("dynamic_update_slice", value, starts);
  inputs.insert(inputs.begin(),
                {value, literal_of(update) ? astype(update, value.dtype()) : update});
  return apply_one(primitives::dynamic_update_slice(), inputs);
}

Array dynamic_slice_in_dim(const Array& x, const Array& start, std::int64_t size,
                           std::int64_t axis) {
  check_operand("dynamic_slice_in_dim", x);
  const auto place =
      static_cast<std::size_t>(normalize_axis("dynamic_slice_in_dim", axis, x.ndim()));
  std::vector<Array> starts(x.shape().size(), Array(0));
  Shape sizes = x.shape();
  starts[place] = start;
  sizes[place] = size;
  return dynamic_slice(x, starts, sizes);
}

Array dynamic_update_slice_in_dim(const Array& x, const Array& update, const Array& start,
                                  std::int64_t axis) {
  check_operand("dynamic_update_slice_in_dim", x);
  std::vector<Array> starts(x.shape().size(), Array(0));
  starts[static_cast<std::size_t>(normalize_axis("dynamic_update_slice_in_dim", axis, x.ndim()))] =
      start;
  return dynamic_update_slice(x, update, starts);
}

Array dynamic_index_in_dim(const Array& x, const Array& index, std::int64_t axis) {
  return squeeze(dynamic_slice_in_dim(x, index, 1, axis),
                 normalize_axis("dynamic_index_in_dim", axis, x.ndim()));
}

}  // namespace lockstep
