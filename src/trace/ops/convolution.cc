#include "lockstep/trace/convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/literals.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

std::int64_t dilated(std::int64_t length, std::int64_t dilation) {
  return length == 0 ? 0 : (length - 1) * dilation + 1;
}

std::vector<std::int64_t> or_ones(const std::vector<std::int64_t>& values, std::size_t n) {
  return values.empty() ? std::vector<std::int64_t>(n, 1) : values;
}

// "NHWC" of any rank: first, spatial letters, last.
std::string features_last(std::size_t ndim, std::string_view first, std::string_view last) {
  std::string text(first);
  for (std::size_t i = 0; i + 2 < ndim; ++i) text += static_cast<char>('0' + i);
  return text + std::string(last);
}

// Where the letters stand: `first`, `second`, then the spatial letters in the order of `spatial`.
primitives::Axes spec_of(const std::string& text, char first, char second,
                         const std::string& spatial) {
  primitives::Axes spec;
  for (const char c : std::string{first, second} + spatial) {
    const std::size_t place = text.find(c);
    if (place == std::string::npos || text.size() != spatial.size() + 2) {
      throw_value_error("conv_general_dilated",
                        fmt::format("dimension numbers '{}' must hold '{}', '{}' and the spatial "
                                    "letters '{}' once each",
                                    text, first, second, spatial));
    }
    spec.push_back(static_cast<std::int64_t>(place));
  }
  return spec;
}

std::string spatial_letters(const std::string& text, char first, char second) {
  std::string letters;
  for (const char c : text) {
    if (c != first && c != second) letters += c;
  }
  return letters;
}

// The window over the spatial axes of (batch, spatial..., features).
primitives::Window pool_window(std::string_view where, const Array& x, const PoolOptions& options) {
  const std::size_t spatial = options.window_shape.size();
  if (static_cast<std::size_t>(x.ndim()) != spatial + 2 ||
      (!options.strides.empty() && options.strides.size() != spatial)) {
    throw_value_error(where,
                      fmt::format("window_shape has {} and strides {} entries for {}; there "
                                  "must be one for each axis between batch and features",
                                  spatial, options.strides.size(), to_string(x.abstract_value())));
  }
  for (const std::int64_t length : options.window_shape) {
    if (length >= 1) continue;
    throw_value_error(
        where, fmt::format("window_shape ({}) must be positive", join(options.window_shape)));
  }
  const std::vector<std::int64_t> strides = or_ones(options.strides, spatial);
  const std::vector<std::int64_t> lengths(x.shape().begin() + 1, x.shape().end() - 1);
  primitives::Window window{
      .dimensions = options.window_shape,
      .strides = strides,
      .padding = options.padding.resolve(where, lengths, options.window_shape, strides),
      .base_dilation = std::vector<std::int64_t>(spatial + 2, 1)};
  window.dimensions.insert(window.dimensions.begin(), 1);
  window.dimensions.push_back(1);
  window.strides.insert(window.strides.begin(), 1);
  window.strides.push_back(1);
  window.padding.insert(window.padding.begin(), {0, 0});
  window.padding.emplace_back(0, 0);
  return window;
}

primitives::Window full_window(const Array& x, const WindowOptions& options) {
  const auto ndim = static_cast<std::size_t>(x.ndim());
  return {.dimensions = or_ones(options.window_dimensions, ndim),
          .strides = or_ones(options.window_strides, ndim),
          .padding = options.padding.empty() ? Padding::Explicit(ndim) : options.padding,
          .base_dilation = std::vector<std::int64_t>(ndim, 1)};
}

Array applied(const primitives::PrimitivePtr& primitive, const Array& x) {
  return apply_one(primitive, std::vector<Array>{x});
}

}  // namespace

Padding::Explicit Padding::resolve(std::string_view where, const std::vector<std::int64_t>& input,
                                   const std::vector<std::int64_t>& window,
                                   const std::vector<std::int64_t>& strides) const {
  if (name_.empty()) {
    if (explicit_.size() == input.size()) return explicit_;
    throw_value_error(where,
                      fmt::format("padding has {} entries for {} spatial axes; there must be "
                                  "one (low, high) for each",
                                  explicit_.size(), input.size()));
  }
  if (name_ != "SAME" && name_ != "VALID" && name_ != "SAME_LOWER") {
    throw_value_error(where, fmt::format("padding '{}' is unknown; it may be SAME, SAME_LOWER, "
                                         "VALID or (low, high) for each spatial axis",
                                         name_));
  }
  Explicit pads(input.size(), {0, 0});
  if (name_ == "VALID") return pads;
  for (std::size_t i = 0; i < input.size() && i < window.size() && i < strides.size(); ++i) {
    if (strides[i] < 1) {
      throw_value_error(where, fmt::format("stride {} must be at least 1", strides[i]));
    }
    const std::int64_t output = (input[i] + strides[i] - 1) / strides[i];
    const std::int64_t total =
        std::max<std::int64_t>((output - 1) * strides[i] + window[i] - input[i], 0);
    const std::int64_t less = total / 2;
    pads[i] = name_ == "SAME" ? std::pair{less, total - less} : std::pair{total - less, less};
  }
  return pads;
}

Array conv_general_dilated(const Array& lhs, const Array& rhs, const ConvOptions& options) {
  constexpr std::string_view where = "conv_general_dilated";
  check_operand(where, lhs);
  check_operand(where, rhs);
  const auto ndim = static_cast<std::size_t>(lhs.ndim());
  if (ndim < 2 || rhs.ndim() != lhs.ndim()) {
    throw_value_error(
        where, fmt::format("lhs {} and kernel {} must have equally many axes: batch, "
                           "features and the spatial axes",
                           to_string(lhs.abstract_value()), to_string(rhs.abstract_value())));
  }
  const ConvDimensionNumbers& given = options.dimension_numbers;
  const bool is_named = !given.lhs.empty() || !given.rhs.empty() || !given.out.empty();
  if (is_named &&
      (given.lhs.size() != ndim || given.rhs.size() != ndim || given.out.size() != ndim)) {
    throw_value_error(
        where, fmt::format("dimension numbers '{}', '{}', '{}' must have {} letters "
                           "each, as lhs {} has axes",
                           given.lhs, given.rhs, given.out, ndim, to_string(lhs.abstract_value())));
  }
  const std::string lhs_text = is_named ? given.lhs : features_last(ndim, "N", "C");
  const std::string out_text = is_named ? given.out : lhs_text;
  std::string rhs_text = given.rhs;
  if (!is_named) rhs_text = spatial_letters(lhs_text, 'N', 'C') + "IO";
  // The kernel's order of the spatial axes is the convolution's.
  const std::string spatial = spatial_letters(rhs_text, 'I', 'O');
  primitives::ConvAttributes attributes;
  attributes.lhs_spec = spec_of(lhs_text, 'N', 'C', spatial);
  attributes.rhs_spec = spec_of(rhs_text, 'O', 'I', spatial);
  attributes.out_spec = spec_of(out_text, 'N', 'C', spatial);
  attributes.window_strides = or_ones(options.window_strides, ndim - 2);
  attributes.lhs_dilation = or_ones(options.lhs_dilation, ndim - 2);
  attributes.rhs_dilation = or_ones(options.rhs_dilation, ndim - 2);
  for (const auto& [list, what] : {std::pair(&attributes.window_strides, "window_strides"),
                                   std::pair(&attributes.lhs_dilation, "lhs_dilation"),
                                   std::pair(&attributes.rhs_dilation, "rhs_dilation")}) {
    if (list->size() == ndim - 2) continue;
    throw_value_error(where, fmt::format("{} has {} entries; there must be one for each of the {} "
                                         "spatial axes",
                                         what, list->size(), ndim - 2));
  }
  std::vector<std::int64_t> input, window;
  for (std::size_t i = 0; i + 2 < ndim; ++i) {
    input.push_back(
        dilated(at(lhs.shape(), attributes.lhs_spec[i + 2]), attributes.lhs_dilation[i]));
    window.push_back(
        dilated(at(rhs.shape(), attributes.rhs_spec[i + 2]), attributes.rhs_dilation[i]));
  }
  attributes.padding = options.padding.resolve(where, input, window, attributes.window_strides);
  attributes.feature_group_count = options.feature_group_count;
  attributes.batch_group_count = options.batch_group_count;
  attributes.precision = options.precision;
  attributes.preferred_element_type = options.preferred_element_type;
  const PromotedType type = result_type(std::vector<Array>{lhs, rhs});
  return apply_one(primitives::convolution(std::move(attributes)),
                   std::vector<Array>{convert_and_broadcast(lhs, type, lhs.shape()),
                                      convert_and_broadcast(rhs, type, rhs.shape())});
}

Array max_pool(const Array& x, const PoolOptions& options) {
  const Array value = operand("max_pool", x);
  return applied(primitives::window_max(pool_window("max_pool", value, options)), value);
}

Array min_pool(const Array& x, const PoolOptions& options) {
  const Array value = operand("min_pool", x);
  return applied(primitives::window_min(pool_window("min_pool", value, options)), value);
}

Array avg_pool(const Array& x, const PoolOptions& options) {
  const Array value = inexact_operand("avg_pool", x);
  const primitives::Window window = pool_window("avg_pool", value, options);
  const Array total = applied(primitives::window_sum(window), value);
  if (options.count_include_pad) {
    double size = 1;
    for (const std::int64_t length : options.window_shape) size *= static_cast<double>(length);
    return divide(total, size);
  }
  // Windows over ones of one batch and feature count the elements inside.
  Shape shape = value.shape();
  shape.front() = 1;
  shape.back() = 1;
  const Array counts = applied(primitives::window_sum(window), ones(shape, value.dtype()));
  return divide(total, counts);
}

Array reduce_window_sum(const Array& x, const WindowOptions& options) {
  const Array value = operand("reduce_window_sum", x);
  return applied(primitives::window_sum(full_window(value, options)), value);
}
Array reduce_window_max(const Array& x, const WindowOptions& options) {
  const Array value = operand("reduce_window_max", x);
  return applied(primitives::window_max(full_window(value, options)), value);
}
Array reduce_window_min(const Array& x, const WindowOptions& options) {
  const Array value = operand("reduce_window_min", x);
  return applied(primitives::window_min(full_window(value, options)), value);
}

}  // namespace lockstep
