// slice, pad and concatenate.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

Array raw_sum(const Array& x) {
  return apply_one(primitives::reduce(primitives::Reduction::Sum, range(x.ndim())),
                   std::vector<Array>{x});
}

class Slice final : public LinearPrimitive {
 public:
  Slice(primitives::Axes starts, primitives::Axes limits, primitives::Axes strides)
      : starts_(std::move(starts)), limits_(std::move(limits)), strides_(std::move(strides)) {}
  std::string_view name() const override { return "slice"; }
  std::string attributes() const override {
    return fmt::format("starts = [{}], limits = [{}], strides = [{}]", join(starts_), join(limits_),
                       join(strides_));
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    const std::size_t ndim = inputs[0].shape.size();
    if (starts_.size() != ndim || limits_.size() != ndim || strides_.size() != ndim) {
      throw_value_error(
          name(), fmt::format("starts [{}], limits [{}] and strides [{}] must have "
                              "one entry for each axis of {}",
                              join(starts_), join(limits_), join(strides_), to_string(inputs[0])));
    }
    AbstractValue result = inputs[0];
    for (std::size_t i = 0; i < ndim; ++i) {
      const std::int64_t length = inputs[0].shape[i];
      if (starts_[i] < 0 || starts_[i] > limits_[i] || limits_[i] > length || strides_[i] < 1) {
        throw_value_error(
            name(),
            fmt::format("[{}:{}:{}] is no part of axis {} of {}; it must hold that 0 <= "
                        "start <= limit <= {} and stride >= 1",
                        starts_[i], limits_[i], strides_[i], i, to_string(inputs[0]), length));
      }
      result.shape[i] = (limits_[i] - starts_[i] + strides_[i] - 1) / strides_[i];
    }
    return {result};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.slice", inputs, input_values, output_values,
                        fmt::format("start_indices = {}, limit_indices = {}, strides = {}",
                                    dense_i64(starts_), dense_i64(limits_), dense_i64(strides_)));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return one(lockstep::slice(request.inputs[0], prepended(0, starts_),
                               prepended(request.size, limits_), prepended(1, strides_)));
  }

 protected:
  Array transposed(const Array& cotangent, const Array& x) const override {
    std::vector<PaddingDimension> padding;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const std::int64_t taken = cotangent.shape()[i];
      const std::int64_t span = taken == 0 ? 0 : (taken - 1) * strides_[i] + 1;
      padding.push_back({.low = starts_[i],
                         .high = x.shape()[i] - starts_[i] - span,
                         .interior = strides_[i] - 1});
    }
    return lockstep::pad(cotangent, padding, zeros({}, cotangent.dtype()));
  }

 private:
  primitives::Axes starts_;
  primitives::Axes limits_;
  primitives::Axes strides_;
};

class Pad final : public Primitive {
 public:
  explicit Pad(std::vector<PaddingDimension> padding) : padding_(std::move(padding)) {}
  std::string_view name() const override { return "pad"; }
  std::string attributes() const override {
    std::string text = "padding =";
    for (const auto& p : padding_) text += fmt::format(" ({}, {}, {})", p.low, p.high, p.interior);
    return text;
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 2);
    check_same_dtype(name(), inputs);
    if (!inputs[1].shape.empty()) {
      throw_value_error(name(), fmt::format("the padding value is {}; it must be a scalar",
                                            to_string(inputs[1])));
    }
    if (padding_.size() != inputs[0].shape.size()) {
      throw_value_error(name(), fmt::format("{} for {}; it must have one entry for each axis",
                                            attributes(), to_string(inputs[0])));
    }
    AbstractValue result{inputs[0].shape, inputs[0].dtype, all_weak(inputs)};
    for (std::size_t i = 0; i < padding_.size(); ++i) {
      const PaddingDimension& p = padding_[i];
      const std::int64_t length = inputs[0].shape[i];
      const std::int64_t padded =
          p.low + p.high + (length == 0 ? 0 : length + (length - 1) * p.interior);
      if (padded < 0 || p.interior < 0) {
        throw_value_error(name(),
                          fmt::format("axis {} of {} padded by ({}, {}, {}) would have "
                                      "length {}; lengths and interior padding cannot be "
                                      "negative",
                                      i, to_string(inputs[0]), p.low, p.high, p.interior, padded));
      }
      result.shape[i] = padded;
    }
    return {result};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    std::vector<std::int64_t> low, high, interior;
    for (const PaddingDimension& p : padding_) {
      low.push_back(p.low);
      high.push_back(p.high);
      interior.push_back(p.interior);
    }
    return builder.emit(
        "stablehlo.pad", inputs, input_values, output_values,
        fmt::format("edge_padding_low = {}, edge_padding_high = {}, interior_padding = {}",
                    dense_i64(low), dense_i64(high), dense_i64(interior)));
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    const Array& g = request.cotangents[0];
    std::vector<Array> result(2);
    if (g.is_null()) return result;
    const Array inside = unpadded(g);
    if (request.needed[0]) result[0] = inside;
    if (request.needed[1]) result[1] = subtract(raw_sum(g), raw_sum(inside));
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    const auto or_zero = [&](std::size_t i) {
      return request.tangents[i].is_null() ? zeros_like(request.inputs[i]) : request.tangents[i];
    };
    return one(lockstep::pad(or_zero(0), padding_, or_zero(1)));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    std::vector<PaddingDimension> padding = padding_;
    padding.insert(padding.begin(), PaddingDimension{});
    const Array x = batched_operand(request, 0);
    const Array& value = request.inputs[1];
    if (!request.batched[1]) return one(lockstep::pad(x, padding, value));
    // Each example has its own padding value: it goes where no element of the operand is.
    const Array inside = lockstep::pad(x, padding, zeros({}, x.dtype()));
    const Array is_inside =
        lockstep::pad(ones(x.shape(), DType::Bool), padding, zeros({}, DType::Bool));
    return one(select(is_inside, inside,
                      broadcast_in_dim(value, inside.shape(), std::vector<std::int64_t>{0})));
  }

 private:
  // The elements of g that came from the operand; cropped ones have 0.
  Array unpadded(const Array& g) const {
    std::vector<PaddingDimension> edges;
    std::vector<std::int64_t> strides;
    for (const PaddingDimension& p : padding_) {
      edges.push_back({.low = -p.low, .high = -p.high});
      strides.push_back(p.interior + 1);
    }
    const Array edged = lockstep::pad(g, edges, zeros({}, g.dtype()));
    return lockstep::slice(edged, std::vector<std::int64_t>(strides.size(), 0), edged.shape(),
                           strides);
  }

  std::vector<PaddingDimension> padding_;
};

class Concatenate final : public Primitive {
 public:
  explicit Concatenate(std::int64_t axis) : axis_(axis) {}
  std::string_view name() const override { return "concatenate"; }
  std::string attributes() const override { return fmt::format("axis = {}", axis_); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    if (inputs.empty()) throw_value_error(name(), "no arrays given; at least one is needed");
    check_same_dtype(name(), inputs);
    check_axes(name(), "axis", std::span(&axis_, 1), inputs[0]);
    AbstractValue result{inputs[0].shape, inputs[0].dtype, all_weak(inputs)};
    std::int64_t length = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Shape shape = inputs[i].shape;
      if (shape.size() == result.shape.size()) {
        length += at(shape, axis_);
        shape[static_cast<std::size_t>(axis_)] = at(inputs[0].shape, axis_);
      }
      if (shape == inputs[0].shape) continue;
      throw_value_error(name(), fmt::format("array {} is {}, array 0 is {}; all axes but axis {} "
                                            "must have equal lengths",
                                            i, to_string(inputs[i]), to_string(inputs[0]), axis_));
    }
    result.shape[static_cast<std::size_t>(axis_)] = length;
    return {result};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.concatenate", inputs, input_values, output_values,
                        fmt::format("dimension = {} : i64", axis_));
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<Array> result(request.inputs.size());
    const Array& g = request.cotangents[0];
    if (g.is_null()) return result;
    std::int64_t start = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::int64_t limit = start + at(request.inputs[i].shape(), axis_);
      if (request.needed[i]) result[i] = slice_in_dim(g, start, limit, 1, axis_);
      start = limit;
    }
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    std::vector<Array> tangents;
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
      tangents.push_back(request.tangents[i].is_null() ? zeros_like(request.inputs[i])
                                                       : request.tangents[i]);
    }
    return one(lockstep::concatenate(tangents, axis_));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return one(lockstep::concatenate(batched_operands(request), axis_ + 1));
  }

 private:
  std::int64_t axis_;
};

}  // namespace

namespace primitives {
PrimitivePtr slice(Axes starts, Axes limits, Axes strides) {
  return std::make_shared<Slice>(std::move(starts), std::move(limits), std::move(strides));
}
PrimitivePtr pad(std::vector<PaddingDimension> padding) {
  return std::make_shared<Pad>(std::move(padding));
}
PrimitivePtr concatenate(std::int64_t axis) {
  return std::make_shared<Concatenate>(axis);
}
}  // namespace primitives

void add_slice_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back(
      {.name = "slice", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         const Shape s = sampler.shape(2, 3, 6);
         return std::vector<PrimitiveSample>{
             {.primitive = primitives::slice({1, 0}, {s[0], s[1] - 1}, {1, 1}), .inputs = {f64(s)}},
             {.primitive = primitives::slice({0, 1}, s, {2, 3}), .inputs = {f64(s)}},
             {.primitive = primitives::slice({2, 0}, {2, s[1]}, {1, 2}), .inputs = {f64(s)}},
             {.primitive = primitives::slice({}, {}, {}), .inputs = {f64({})}},
             {.primitive = primitives::slice({1}, {4}, {2}),
              .inputs = {of_type(DType::Int16, {5})}},
         };
       }});
  kinds.push_back(
      {.name = "pad", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         const Shape s = sampler.shape(2, 2, 4);
         return std::vector<PrimitiveSample>{
             {.primitive = primitives::pad({{1, 2, 0}, {0, 1, 0}}), .inputs = {f64(s), f64({})}},
             {.primitive = primitives::pad({{-1, 0, 0}, {1, -1, 2}}), .inputs = {f64(s), f64({})}},
             {.primitive = primitives::pad({{2, 1, 1}}), .inputs = {f64({0}), f64({})}},
             {.primitive = primitives::pad({}), .inputs = {f64({}), f64({})}},
             {.primitive = primitives::pad({{0, 1, 1}}),
              .inputs = {of_type(DType::Bool, {3}), of_type(DType::Bool, {})}},
         };
       }});
  kinds.push_back(
      {.name = "concatenate", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         const Shape s = sampler.shape(2);
         return std::vector<PrimitiveSample>{
             {.primitive = primitives::concatenate(0),
              .inputs = {f64(s), f64({2, s[1]}), f64({0, s[1]})}},
             {.primitive = primitives::concatenate(1), .inputs = {f64(s), f64({s[0], 1})}},
             {.primitive = primitives::concatenate(0), .inputs = {f64({3})}},
             {.primitive = primitives::concatenate(0),
              .inputs = {of_type(DType::UInt8, {1}), of_type(DType::UInt8, {2})}},
         };
       }});
}

}  // namespace lockstep
