// Convolution and pooling.
#include "lockstep/trace/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/promotion.h"
#include "trace/literals.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

using Axes = std::vector<std::int64_t>;

std::int64_t dilated_length(std::int64_t length, std::int64_t dilation) {
  return length == 0 ? 0 : (length - 1) * dilation + 1;
}

// `values`, or ones for each of `count` axes.
Axes or_ones(std::string_view where, std::string_view name, const Axes& values, std::size_t count) {
  if (values.empty()) return Axes(count, 1);
  if (values.size() != count) {
    throw_value_error(where, fmt::format("{} is [{}] for {} spatial axes; give one number for each",
                                         name, join(values), count));
  }
  for (const std::int64_t value : values) {
    if (value >= 1) continue;
    throw_value_error(
        where, fmt::format("{} is [{}]; every number must be at least 1", name, join(values)));
  }
  return values;
}

// "NHWC" for rank 4: batch, spatial letters, features.
std::string features_last(char first, char last, std::size_t num_spatial, bool is_kernel) {
  static constexpr std::string_view letters[] = {"", "W", "HW", "DHW"};
  std::string spatial =
      num_spatial < std::size(letters) ? std::string(letters[num_spatial]) : std::string();
  for (std::size_t i = 0; spatial.size() < num_spatial; ++i) spatial += static_cast<char>('a' + i);
  return is_kernel ? spatial + first + last : first + spatial + last;
}

// Places of the letters in `text`: first, second, then `spatial` in order.
Axes spec_of(std::string_view what, const std::string& text, char first, char second,
             const std::string& spatial, std::size_t ndim) {
  Axes axes;
  for (const char letter : std::string{first, second} + spatial) {
    const std::size_t place = text.find(letter);
    if (text.size() == ndim && place != std::string::npos && text.rfind(letter) == place) {
      axes.push_back(static_cast<std::int64_t>(place));
      continue;
    }
    throw_value_error("conv_general_dilated",
                      fmt::format("dimension_numbers.{} is '{}'; it must name each of the {} axes "
                                  "once, with '{}', '{}' and the "
                                  "spatial letters '{}' of the other two",
                                  what, text, ndim, first, second, spatial));
  }
  return axes;
}

std::string spatial_letters(const std::string& text, char first, char second) {
  std::string letters;
  for (const char letter : text) {
    if (letter != first && letter != second) letters += letter;
  }
  return letters;
}

}  // namespace

Padding::Explicit Padding::resolve(std::string_view where, const std::vector<std::int64_t>& input,
                                   const std::vector<std::int64_t>& window,
                                   const std::vector<std::int64_t>& strides) const {
  if (name_.empty()) {
    if (explicit_.size() == input.size()) return explicit_;
    throw_value_error(
        where, fmt::format("padding has {} pairs for {} spatial axes; give (low, high) for each",
                           explicit_.size(), input.size()));
  }
  if (name_ == "VALID") return Explicit(input.size(), {0, 0});
  if (name_ != "SAME") {
    throw_value_error(
        where,
        fmt::format(
            "padding is '{}'; expected 'SAME', 'VALID', or (low, high) for each spatial axis",
            name_));
  }
  Explicit pads;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::int64_t places = (input[i] + strides[i] - 1) / strides[i];
    const std::int64_t total =
        std::max<std::int64_t>((places - 1) * strides[i] + window[i] - input[i], 0);
    pads.emplace_back(total / 2, total - total / 2);
  }
  return pads;
}

Array conv_general_dilated(const Array& lhs, const Array& rhs, const ConvOptions& options) {
  constexpr std::string_view where = "conv_general_dilated";
  check_operand(where, lhs);
  check_operand(where, rhs);
  if (lhs.ndim() != rhs.ndim() || lhs.ndim() < 2) {
    throw_value_error(
        where,
        fmt::format(
            "the input is {} and the kernel {}; both need a batch (or output) axis, a feature axis "
            "and equally many spatial ones",
            to_string(lhs.abstract_value()), to_string(rhs.abstract_value())));
  }
  const std::vector<Array> operands{lhs, rhs};
  const PromotedType type = result_type(operands);
  const Array input = convert_and_broadcast(lhs, type, lhs.shape());
  const Array kernel = convert_and_broadcast(rhs, type, rhs.shape());

  const std::size_t ndim = input.shape().size();
  const std::size_t num_spatial = ndim - 2;
  const auto or_default = [](const std::string& text, std::string fallback) {
    return text.empty() ? std::move(fallback) : text;
  };
  const std::string lhs_text =
      or_default(options.dimension_numbers.lhs, features_last('N', 'C', num_spatial, false));
  const std::string rhs_text =
      or_default(options.dimension_numbers.rhs, features_last('I', 'O', num_spatial, true));
  const std::string out_text =
      or_default(options.dimension_numbers.out, features_last('N', 'C', num_spatial, false));
  // The kernel's order of spatial letters is the order of strides, dilations and padding.
  const std::string spatial = spatial_letters(rhs_text, 'O', 'I');

  primitives::ConvAttributes attributes;
  attributes.lhs_spec = spec_of("lhs", lhs_text, 'N', 'C', spatial, ndim);
  attributes.rhs_spec = spec_of("rhs", rhs_text, 'O', 'I', spatial, ndim);
  attributes.out_spec = spec_of("out", out_text, 'N', 'C', spatial, ndim);
  attributes.window_strides = or_ones(where, "window_strides", options.window_strides, num_spatial);
  attributes.lhs_dilation = or_ones(where, "lhs_dilation", options.lhs_dilation, num_spatial);
  attributes.rhs_dilation = or_ones(where, "rhs_dilation", options.rhs_dilation, num_spatial);
  Axes input_lengths;
  Axes window_lengths;
  for (std::size_t i = 0; i < num_spatial; ++i) {
    input_lengths.push_back(
        dilated_length(at(input.shape(), attributes.lhs_spec[i + 2]), attributes.lhs_dilation[i]));
    window_lengths.push_back(
        dilated_length(at(kernel.shape(), attributes.rhs_spec[i + 2]), attributes.rhs_dilation[i]));
  }
  attributes.padding =
      options.padding.resolve(where, input_lengths, window_lengths, attributes.window_strides);
  attributes.feature_group_count = options.feature_group_count;
  attributes.batch_group_count = options.batch_group_count;
  attributes.precision = options.precision;
  attributes.preferred_element_type = options.preferred_element_type;
  return apply_one(primitives::convolution(std::move(attributes)),
                   std::vector<Array>{input, kernel});
}

namespace {

// The window of a pooling op over (batch, spatial..., features).
primitives::Window pooling_window(std::string_view where, const Array& x,
                                  const PoolOptions& options) {
  const std::size_t num_spatial = options.window_shape.size();
  if (num_spatial == 0 || x.shape().size() != num_spatial + 2) {
    throw_value_error(
        where,
        fmt::format(
            "window_shape has {} lengths for {}; give one for each axis between batch and features",
            num_spatial, to_string(x.abstract_value())));
  }
  const Axes shape = or_ones(where, "window_shape", options.window_shape, num_spatial);
  const Axes strides = or_ones(where, "strides", options.strides, num_spatial);
  const Axes lengths(x.shape().begin() + 1, x.shape().end() - 1);
  primitives::Window window{
      .dimensions = {1}, .strides = {1}, .padding = {{0, 0}}, .base_dilation = {}};
  const Padding::Explicit pads = options.padding.resolve(where, lengths, shape, strides);
  window.dimensions.insert(window.dimensions.end(), shape.begin(), shape.end());
  window.strides.insert(window.strides.end(), strides.begin(), strides.end());
  window.padding.insert(window.padding.end(), pads.begin(), pads.end());
  window.dimensions.push_back(1);
  window.strides.push_back(1);
  window.padding.emplace_back(0, 0);
  window.base_dilation = Axes(x.shape().size(), 1);
  return window;
}

primitives::Window whole_window(std::string_view where, const Array& x,
                                const WindowOptions& options) {
  const std::size_t ndim = x.shape().size();
  primitives::Window window{
      .dimensions = or_ones(where, "window_dimensions", options.window_dimensions, ndim),
      .strides = or_ones(where, "window_strides", options.window_strides, ndim),
      .padding = options.padding,
      .base_dilation = Axes(ndim, 1)};
  if (window.padding.empty()) window.padding.assign(ndim, {0, 0});
  if (window.padding.size() != ndim) {
    throw_value_error(where,
                      fmt::format("padding has {} pairs for {}; give (low, high) for each axis",
                                  window.padding.size(), to_string(x.abstract_value())));
  }
  return window;
}

}  // namespace

Array max_pool(const Array& x, const PoolOptions& options) {
  const Array value = operand("max_pool", x);
  return apply_one(primitives::window_max(pooling_window("max_pool", value, options)),
                   std::vector<Array>{value});
}

Array min_pool(const Array& x, const PoolOptions& options) {
  const Array value = operand("min_pool", x);
  return apply_one(primitives::window_min(pooling_window("min_pool", value, options)),
                   std::vector<Array>{value});
}

Array avg_pool(const Array& x, const PoolOptions& options) {
  const Array value = inexact_operand("avg_pool", x);
  const primitives::Window window = pooling_window("avg_pool", value, options);
  const Array total = apply_one(primitives::window_sum(window), std::vector<Array>{value});
  if (options.count_include_pad) {
    const double size = std::accumulate(
        window.dimensions.begin(), window.dimensions.end(), 1.0,
        [](double product, std::int64_t length) { return product * static_cast<double>(length); });
    return total / full_like(total, size);
  }
  return total / apply_one(primitives::window_sum(window), std::vector<Array>{ones_like(value)});
}

Array reduce_window_sum(const Array& x, const WindowOptions& options) {
  const Array value = operand("reduce_window_sum", x);
  return apply_one(primitives::window_sum(whole_window("reduce_window_sum", value, options)),
                   std::vector<Array>{value});
}
Array reduce_window_max(const Array& x, const WindowOptions& options) {
  const Array value = operand("reduce_window_max", x);
  return apply_one(primitives::window_max(whole_window("reduce_window_max", value, options)),
                   std::vector<Array>{value});
}
Array reduce_window_min(const Array& x, const WindowOptions& options) {
  const Array value = operand("reduce_window_min", x);
  return apply_one(primitives::window_min(whole_window("reduce_window_min", value, options)),
                   std::vector<Array>{value});
}

}  // namespace lockstep
