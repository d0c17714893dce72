// Windows that slide over all axes: sums, maxima, minima; and running sums.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

using primitives::Window;

std::int64_t dilated(std::int64_t length, std::int64_t dilation) {
  return length == 0 ? 0 : (length - 1) * dilation + 1;
}

// The window over one example as one over the batch.
Window batched(const Window& window) {
  Window whole{.dimensions = prepended(1, window.dimensions),
               .strides = prepended(1, window.strides),
               .padding = window.padding,
               .base_dilation = prepended(1, window.base_dilation)};
  whole.padding.insert(whole.padding.begin(), {0, 0});
  return whole;
}

std::string text_of(const Window& window) {
  std::string padding;
  for (const auto& [low, high] : window.padding) padding += fmt::format(" ({}, {})", low, high);
  return fmt::format("dimensions = [{}], strides = [{}], padding =[{}], base_dilation = [{}]",
                     join(window.dimensions), join(window.strides), padding,
                     join(window.base_dilation));
}

Shape window_shape(std::string_view where, const Window& window, const AbstractValue& input) {
  const std::size_t ndim = input.shape.size();
  if (window.dimensions.size() != ndim || window.strides.size() != ndim ||
      window.padding.size() != ndim || window.base_dilation.size() != ndim) {
    throw_value_error(where, fmt::format("{} for {}; every list must have one entry for each axis",
                                         text_of(window), to_string(input)));
  }
  Shape shape;
  for (std::size_t i = 0; i < ndim; ++i) {
    if (window.dimensions[i] < 1 || window.strides[i] < 1 || window.base_dilation[i] < 1) {
      throw_value_error(where, fmt::format("{}: window lengths, strides and dilations must be at "
                                           "least 1",
                                           text_of(window)));
    }
    const std::int64_t padded = dilated(input.shape[i], window.base_dilation[i]) +
                                window.padding[i].first + window.padding[i].second;
    shape.push_back(padded < window.dimensions[i]
                        ? 0
                        : (padded - window.dimensions[i]) / window.strides[i] + 1);
  }
  return shape;
}

std::vector<std::string> emit_window(FunctionBuilder& builder, std::string_view op,
                                     const std::string& initial, const Window& window,
                                     const std::string& operand, const AbstractValue& type,
                                     std::span<const AbstractValue> results) {
  std::string padding;
  for (const auto& [low, high] : window.padding) {
    padding += fmt::format("{}[{}, {}]", padding.empty() ? "" : ", ", low, high);
  }
  const std::size_t ndim = window.dimensions.size();
  if (ndim > 0) padding = "[" + padding + "]";
  const std::string start = scalar_constant(builder, type.dtype, initial);
  const std::string attributes = fmt::format(
      "window_dimensions = {}, window_strides = {}, base_dilations = {}, window_dilations = {}, "
      "padding = dense<{}> : tensor<{}x2xi64>",
      dense_i64(window.dimensions), dense_i64(window.strides), dense_i64(window.base_dilation),
      dense_i64(std::vector<std::int64_t>(ndim, 1)), padding, ndim);
  return builder.emit("stablehlo.reduce_window", std::vector<std::string>{operand, start},
                      std::vector<AbstractValue>{type, {.shape = {}, .dtype = type.dtype}}, results,
                      attributes, std::vector<std::string>{binary_region(builder, op, type.dtype)});
}

class WindowSum final : public LinearPrimitive {
 public:
  explicit WindowSum(Window window) : window_(std::move(window)) {}
  std::string_view name() const override { return "reduce_window_sum"; }
  std::string attributes() const override { return text_of(window_); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    check_accepts(name(), Accepts::Number, inputs[0]);
    return {{window_shape(name(), window_, inputs[0]), inputs[0].dtype, inputs[0].weak_type}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    if (window_.dimensions.empty()) return {inputs[0]};
    const DType dtype = input_values[0].dtype;
    return emit_window(builder, "stablehlo.add",
                       is_floating(dtype)  ? "0.0"
                       : is_complex(dtype) ? "(0.0, 0.0)"
                                           : "0",
                       window_, inputs[0], input_values[0], output_values);
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return lockstep::apply(primitives::window_sum(batched(window_)), request.inputs);
  }

 protected:
  // A window sum again: strides and dilation change places, and the padding lets every window that
  // an element was in reach it.
  Array transposed(const Array& cotangent, const Array& x) const override {
    Window back{.dimensions = window_.dimensions,
                .strides = window_.base_dilation,
                .padding = {},
                .base_dilation = window_.strides};
    for (std::size_t i = 0; i < window_.dimensions.size(); ++i) {
      const std::int64_t low = window_.dimensions[i] - 1 - window_.padding[i].first;
      const std::int64_t high = dilated(x.shape()[i], window_.base_dilation[i]) -
                                dilated(cotangent.shape()[i], window_.strides[i]) - low +
                                window_.dimensions[i] - 1;
      back.padding.emplace_back(low, high);
    }
    return apply_one(primitives::window_sum(std::move(back)), std::vector<Array>{cotangent});
  }

 private:
  Window window_;
};

class WindowExtreme final : public Primitive {
 public:
  WindowExtreme(bool largest, Window window) : largest_(largest), window_(std::move(window)) {}
  std::string_view name() const override {
    return largest_ ? "reduce_window_max" : "reduce_window_min";
  }
  std::string attributes() const override { return text_of(window_); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    if (is_complex(inputs[0].dtype)) {
      throw_value_error(name(), fmt::format("complex numbers have no order; got {}. Compare abs(x)",
                                            to_string(inputs[0])));
    }
    return {{window_shape(name(), window_, inputs[0]), inputs[0].dtype, inputs[0].weak_type}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    if (window_.dimensions.empty()) return {inputs[0]};
    const DType dtype = input_values[0].dtype;
    return emit_window(builder, largest_ ? "stablehlo.maximum" : "stablehlo.minimum",
                       largest_ ? lowest_text(dtype) : highest_text(dtype), window_, inputs[0],
                       input_values[0], output_values);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    const Array& g = request.cotangents[0];
    if (g.is_null()) return one({});
    const Array& x = request.inputs[0];
    return one(tiles(x.shape()) ? tiled_vjp(g, x, request.outputs[0])
                                : sliding_vjp(g, x, request.outputs[0]));
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    const Array& t = request.tangents[0];
    if (t.is_null()) return one({});
    const Array padded = padded_operand(request.inputs[0]);
    const Array padded_tangent = lockstep::pad(t, edge_padding(), zeros({}, t.dtype()));
    Array result;
    for_each_winner(padded, request.outputs[0], [&](const Array& wins, const Shape& offset) {
      const Array part = shifted_slice(padded_tangent, offset, wins.shape());
      result = add_cotangents(result, select(wins, part, zeros_like(part)));
    });
    return one(result.is_null() ? zeros_like(request.outputs[0]) : result);
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    const auto make = largest_ ? primitives::window_max : primitives::window_min;
    return lockstep::apply(make(batched(window_)), request.inputs);
  }

 private:
  // Whether the windows lie side by side without overlap or padding.
  bool tiles(const Shape& shape) const {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (window_.dimensions[i] != window_.strides[i] || window_.padding[i].first != 0 ||
          window_.padding[i].second != 0 || shape[i] < window_.dimensions[i]) {
        return false;
      }
    }
    return true;
  }

  // Windows that tile the operand: each is a block of axes of a reshaped operand. The winner is the
  // first element of the block that equals its extreme. Several times as fast on CPUs as
  // scattering.
  Array tiled_vjp(const Array& g, const Array& x, const Array& y) const {
    Shape covered;  // the part of x that windows cover
    Shape blocks;   // with each axis split into (windows, window)
    std::vector<std::int64_t> window_axes;
    std::vector<std::int64_t> result_axes;
    for (std::size_t i = 0; i < x.shape().size(); ++i) {
      covered.push_back(y.shape()[i] * window_.dimensions[i]);
      result_axes.push_back(static_cast<std::int64_t>(blocks.size()));
      blocks.push_back(y.shape()[i]);
      if (window_.dimensions[i] == 1) continue;
      window_axes.push_back(static_cast<std::int64_t>(blocks.size()));
      blocks.push_back(window_.dimensions[i]);
    }
    const std::vector<std::int64_t> origin(covered.size(), 0);
    const Array x_blocks = lockstep::reshape(lockstep::slice(x, origin, covered), blocks);
    const auto spread = [&](const Array& a) { return broadcast_in_dim(a, blocks, result_axes); };
    // Places in the window, row-major.
    Array place = zeros(blocks, DType::Int32);
    std::int32_t step = 1;
    for (auto axis = window_axes.rbegin(); axis != window_axes.rend(); ++axis) {
      place = place + step * broadcasted_iota(DType::Int32, blocks, *axis);
      step *= static_cast<std::int32_t>(at(blocks, *axis));
    }
    const Array candidates =
        select(equal(x_blocks, spread(y)), place, full_like(place, std::int64_t{step}));
    const Array first = apply_one(primitives::reduce(primitives::Reduction::Min, window_axes),
                                  std::vector<Array>{candidates});
    const Array g_blocks = spread(g);
    const Array inside = lockstep::reshape(
        select(equal(place, spread(first)), g_blocks, zeros_like(g_blocks)), covered);
    std::vector<PaddingDimension> rest;
    for (std::size_t i = 0; i < covered.size(); ++i) {
      rest.push_back({.low = 0, .high = x.shape()[i] - covered[i]});
    }
    return lockstep::pad(inside, rest, zeros({}, g.dtype()));
  }

  // Windows that overlap or hang over: place by place through the window.
  Array sliding_vjp(const Array& g, const Array& x, const Array& y) const {
    const Array padded = padded_operand(x);
    Array result;
    for_each_winner(padded, y, [&](const Array& wins, const Shape& offset) {
      const Array part = select(wins, g, zeros_like(g));
      std::vector<PaddingDimension> back;
      for (std::size_t i = 0; i < offset.size(); ++i) {
        const std::int64_t span = dilated(g.shape()[i], window_.strides[i]);
        back.push_back({.low = offset[i] - window_.padding[i].first,
                        .high = x.shape()[i] + window_.padding[i].first - offset[i] - span,
                        .interior = window_.strides[i] - 1});
      }
      result = add_cotangents(result, lockstep::pad(part, back, zeros({}, g.dtype())));
    });
    return result.is_null() ? zeros_like(x, g.dtype()) : result;
  }

  // Calls `visit(wins, offset)` for every place in the window, in row-major order: `wins` says for
  // each window whether the element at that place is its first extreme one.
  template <class Visit>
  void for_each_winner(const Array& padded, const Array& y, const Visit& visit) const {
    Shape offset(window_.dimensions.size(), 0);
    Array taken;
    if (y.size() == 0) return;
    while (true) {
      const Array hit = equal(shifted_slice(padded, offset, y.shape()), y);
      visit(taken.is_null() ? hit : logical_and(hit, logical_not(taken)), offset);
      taken = taken.is_null() ? hit : logical_or(taken, hit);
      std::size_t axis = offset.size();
      while (axis > 0 && ++offset[axis - 1] == window_.dimensions[axis - 1]) offset[--axis] = 0;
      if (axis == 0) return;
    }
  }

  std::vector<PaddingDimension> edge_padding() const {
    std::vector<PaddingDimension> padding;
    for (const auto& [low, high] : window_.padding) padding.push_back({.low = low, .high = high});
    return padding;
  }
  Array padded_operand(const Array& x) const {
    return lockstep::pad(x, edge_padding(), largest_ ? lowest(x.dtype()) : highest(x.dtype()));
  }
  Array shifted_slice(const Array& padded, const Shape& offset, const Shape& shape) const {
    std::vector<std::int64_t> limits;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      limits.push_back(offset[i] + dilated(shape[i], window_.strides[i]));
    }
    return lockstep::slice(padded, offset, limits, window_.strides);
  }

  bool largest_;
  Window window_;
};

class Cumsum final : public LinearPrimitive {
 public:
  Cumsum(std::int64_t axis, bool reverse) : axis_(axis), reverse_(reverse) {}
  std::string_view name() const override { return "cumsum"; }
  std::string attributes() const override {
    return fmt::format("axis = {}, reverse = {}", axis_, reverse_);
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    check_accepts(name(), Accepts::Number, inputs[0]);
    check_axes(name(), "axis", std::span(&axis_, 1), inputs[0]);
    return {inputs[0]};
  }

  // XLA rewrites a window that ends (begins) at each element into a scan in blocks.
  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    const AbstractValue& x = input_values[0];
    const std::size_t ndim = x.shape.size();
    const std::int64_t length = at(x.shape, axis_);
    if (num_elements(x.shape) == 0) return {inputs[0]};
    Window window{.dimensions = Shape(ndim, 1),
                  .strides = Shape(ndim, 1),
                  .padding = Padding::Explicit(ndim),
                  .base_dilation = Shape(ndim, 1)};
    const auto axis = static_cast<std::size_t>(axis_);
    window.dimensions[axis] = length;
    window.padding[axis] = reverse_ ? std::pair<std::int64_t, std::int64_t>{0, length - 1}
                                    : std::pair<std::int64_t, std::int64_t>{length - 1, 0};
    return emit_window(builder, "stablehlo.add",
                       is_floating(x.dtype)  ? "0.0"
                       : is_complex(x.dtype) ? "(0.0, 0.0)"
                                             : "0",
                       window, inputs[0], x, output_values);
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return lockstep::apply(primitives::cumsum(axis_ + 1, reverse_), request.inputs);
  }

 protected:
  Array transposed(const Array& cotangent, const Array&) const override {
    return apply_one(primitives::cumsum(axis_, !reverse_), std::vector<Array>{cotangent});
  }

 private:
  std::int64_t axis_;
  bool reverse_;
};

std::vector<PrimitiveSample> window_samples(primitives::PrimitivePtr (*make)(Window),
                                            std::uint64_t seed) {
  Sampler sampler(seed);
  const std::int64_t h = sampler.integer(4, 6);
  std::vector<PrimitiveSample> samples;
  const auto add = [&](AbstractValue value, Window window) {
    samples.push_back({.primitive = make(std::move(window)), .inputs = {std::move(value)}});
  };
  // Tiles, with a rest; overlapping with padding; longer strides than windows; nothing left.
  add(f64({2, h, 5, 2}),
      {{1, 2, 2, 1}, {1, 2, 2, 1}, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {1, 1, 1, 1}});
  add(f64({1, h, 4, 2}),
      {{1, 3, 2, 1}, {1, 2, 1, 1}, {{0, 0}, {1, 1}, {1, 0}, {0, 0}}, {1, 1, 1, 1}});
  add(f64({h}), {{2}, {3}, {{0, 0}}, {1}});
  add(f64({2}), {{3}, {1}, {{0, 0}}, {1}});
  add(f64({}), {{}, {}, {}, {}});
  add(of_type(DType::Int32, {5}), {{2}, {1}, {{1, 0}}, {1}});
  add(of_type(DType::BFloat16, {4}), {{2}, {2}, {{0, 0}}, {1}});
  return samples;
}

}  // namespace

namespace primitives {
PrimitivePtr window_sum(Window window) {
  return std::make_shared<WindowSum>(std::move(window));
}
PrimitivePtr window_max(Window window) {
  return std::make_shared<WindowExtreme>(true, std::move(window));
}
PrimitivePtr window_min(Window window) {
  return std::make_shared<WindowExtreme>(false, std::move(window));
}
PrimitivePtr cumsum(std::int64_t axis, bool reverse) {
  return std::make_shared<Cumsum>(axis, reverse);
}
}  // namespace primitives

void add_window_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "reduce_window_sum", .samples = [](std::uint64_t seed) {
                     auto samples = window_samples(primitives::window_sum, seed);
                     samples.push_back({.primitive = primitives::window_sum(
                                            {{3, 2}, {2, 1}, {{2, 1}, {-1, 2}}, {1, 3}}),
                                        .inputs = {f64({4, 3})}});
                     return samples;
                   }});
  kinds.push_back({.name = "reduce_window_max", .samples = [](std::uint64_t seed) {
                     return window_samples(primitives::window_max, seed);
                   }});
  kinds.push_back({.name = "reduce_window_min", .samples = [](std::uint64_t seed) {
                     return window_samples(primitives::window_min, seed);
                   }});
}

void add_cumsum_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back(
      {.name = "cumsum", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         return std::vector<PrimitiveSample>{
             {.primitive = primitives::cumsum(0, false), .inputs = {f64({5})}},
             {.primitive = primitives::cumsum(1, false), .inputs = {f64(sampler.shape(3))}},
             {.primitive = primitives::cumsum(0, true), .inputs = {f64(sampler.shape(2))}},
             {.primitive = primitives::cumsum(1, true), .inputs = {f64({2, 0})}},
             {.primitive = primitives::cumsum(0, false), .inputs = {of_type(DType::Int8, {4})}},
         };
       }});
}

}  // namespace lockstep
