// convolution: any number of spatial axes, strides, dilations and groups.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batching.h"
#include "trace/precision_text.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

using primitives::Axes;
using primitives::ConvAttributes;

std::int64_t dilated(std::int64_t length, std::int64_t dilation) {
  return length == 0 ? 0 : (length - 1) * dilation + 1;
}

// "[b, 0, 1, f]": what each axis is, for a spec (first, second, spatial...).
std::string axes_text(const Axes& spec, std::string_view first, std::string_view second) {
  std::vector<std::string> letters(spec.size());
  for (std::size_t i = 0; i < spec.size(); ++i) {
    letters[static_cast<std::size_t>(spec[i])] = i == 0   ? std::string(first)
                                                 : i == 1 ? std::string(second)
                                                          : std::to_string(i - 2);
  }
  std::string text;
  for (const std::string& letter : letters) text += (text.empty() ? "" : ", ") + letter;
  return "[" + text + "]";
}

// The spec with its first two axes exchanged.
Axes swapped(Axes spec) {
  std::swap(spec[0], spec[1]);
  return spec;
}

// Axis `axis` of length groups * n, split; its groups become part of axis `into` (outermost there).
Array move_groups(const Array& x, std::int64_t axis, std::int64_t into, std::int64_t groups) {
  Shape split;
  for (std::int64_t i = 0; i < x.ndim(); ++i) {
    const std::int64_t length = at(x.shape(), i);
    if (i == axis) split.push_back(groups);
    split.push_back(i == axis ? length / groups : length);
  }
  // The groups' axis stands before `axis`; put it before `into` instead.
  Axes order = remaining_axes(x.ndim() + 1, std::span(&axis, 1));
  const std::int64_t target = into < axis ? into : into + 1;
  order.insert(std::find(order.begin(), order.end(), target), axis);
  Shape merged = x.shape();
  merged[static_cast<std::size_t>(axis)] /= groups;
  merged[static_cast<std::size_t>(into)] *= groups;
  return lockstep::reshape(lockstep::transpose(lockstep::reshape(x, split), order), merged);
}

// A batch of `x` (its axis 0) merged into the axis that is `into` for one example: within each of
// the `groups` parts of that axis the examples stand one after the other.
Array merge_batch(const Array& x, std::int64_t into, std::int64_t groups) {
  const std::int64_t size = x.shape()[0];
  Shape merged(x.shape().begin() + 1, x.shape().end());
  Shape split = merged;
  const std::int64_t length = at(merged, into);
  split[static_cast<std::size_t>(into)] = length / groups;
  split.insert(split.begin() + into, groups);
  split.insert(split.begin(), size);
  merged[static_cast<std::size_t>(into)] = length * size;
  // (batch, ..., groups, rest, ...): the batch goes between the groups and the rest.
  return lockstep::reshape(moveaxis(lockstep::reshape(x, split), 0, into + 1), merged);
}

// The reverse: the examples that stand in axis `from` of `y` as a new axis 0.
Array split_batch(const Array& y, std::int64_t from, std::int64_t size, std::int64_t groups) {
  Shape split = y.shape();
  Shape example = y.shape();
  const std::int64_t length = at(y.shape(), from);
  split[static_cast<std::size_t>(from)] = length / groups / size;
  split.insert(split.begin() + from, {groups, size});
  example[static_cast<std::size_t>(from)] = length / size;
  example.insert(example.begin(), size);
  return lockstep::reshape(moveaxis(lockstep::reshape(y, split), from + 1, 0), example);
}

class Convolution final : public Primitive {
 public:
  explicit Convolution(ConvAttributes attributes) : a_(std::move(attributes)) {}
  std::string_view name() const override { return "conv_general_dilated"; }
  std::string attributes() const override {
    return fmt::format(
        "dimension_numbers = {}, window_strides = [{}], padding = [{}], lhs_dilation = [{}], "
        "rhs_dilation = [{}], feature_group_count = {}, batch_group_count = {}, precision = {}, "
        "preferred_element_type = {}",
        dimension_text(), join(a_.window_strides), padding_text(), join(a_.lhs_dilation),
        join(a_.rhs_dilation), a_.feature_group_count, a_.batch_group_count,
        precision_text(a_.precision),
        a_.preferred_element_type ? to_string(*a_.preferred_element_type) : "");
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 2);
    check_same_dtype(name(), inputs);
    check_accepts(name(), Accepts::Number, inputs[0]);
    const Shape& lhs = inputs[0].shape;
    const Shape& rhs = inputs[1].shape;
    check_ranks(inputs);
    check_groups(inputs);
    AbstractValue result{.shape = Shape(lhs.size()),
                         .dtype = a_.preferred_element_type.value_or(inputs[0].dtype),
                         .weak_type = all_weak(inputs)};
    const auto set = [&](std::int64_t axis, std::int64_t length) {
      result.shape[static_cast<std::size_t>(axis)] = length;
    };
    set(a_.out_spec[0], at(lhs, a_.lhs_spec[0]) / a_.batch_group_count);
    set(a_.out_spec[1], at(rhs, a_.rhs_spec[0]));
    for (std::size_t i = 0; i + 2 < lhs.size(); ++i) {
      const std::int64_t padded = dilated(at(lhs, a_.lhs_spec[i + 2]), a_.lhs_dilation[i]) +
                                  a_.padding[i].first + a_.padding[i].second;
      const std::int64_t window = dilated(at(rhs, a_.rhs_spec[i + 2]), a_.rhs_dilation[i]);
      const std::int64_t places =
          (std::max<std::int64_t>(padded - window, -1)) / a_.window_strides[i];
      set(a_.out_spec[i + 2], padded < window ? 0 : places + 1);
    }
    return {result};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    const std::size_t spatial = a_.window_strides.size();
    std::string reversal;
    for (std::size_t i = 0; i < spatial; ++i) reversal += i == 0 ? ": false" : ", false";
    return builder.emit(
        "stablehlo.convolution", inputs, input_values, output_values,
        fmt::format("batch_group_count = {} : i64, dimension_numbers = #stablehlo.conv<{}>, "
                    "feature_group_count = {} : i64, lhs_dilation = {}, padding = dense<{}> : "
                    "tensor<{}x2xi64>, {}, rhs_dilation = {}, window_reversal = array<i1{}>, "
                    "window_strides = {}",
                    a_.batch_group_count, dimension_text(), a_.feature_group_count,
                    dense_i64(a_.lhs_dilation),
                    spatial == 0 ? std::string() : "[" + padding_text() + "]", spatial,
                    precision_config(a_.precision), dense_i64(a_.rhs_dilation), reversal,
                    dense_i64(a_.window_strides)));
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<Array> result(2);
    const Array& g = request.cotangents[0];
    if (g.is_null()) return result;
    const Array& lhs = request.inputs[0];
    const Array& rhs = request.inputs[1];
    if (request.needed[0]) result[0] = lhs_cotangent(g, lhs, rhs);
    if (request.needed[1]) result[1] = rhs_cotangent(g, lhs, rhs);
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    const auto product = [&](const Array& lhs, const Array& rhs) {
      if (lhs.is_null() || rhs.is_null()) return Array();
      return apply_one(primitives::convolution(a_), std::vector<Array>{lhs, rhs});
    };
    return one(add_cotangents(product(request.tangents[0], request.inputs[1]),
                              product(request.inputs[0], request.tangents[1])));
  }

  // A batched lhs is a longer batch, a batched kernel more output features; where both are, each
  // example is a group of its own.
  std::vector<Array> batch(const BatchRequest& request) const override {
    Array lhs = request.inputs[0];
    Array rhs = request.inputs[1];
    ConvAttributes whole = a_;
    const std::int64_t groups = std::max(a_.feature_group_count, a_.batch_group_count);
    if (!request.batched[1]) {
      lhs = merge_batch(lhs, a_.lhs_spec[0], a_.batch_group_count);
      return one(split_batch(convolved_as_is(lhs, rhs, whole), a_.out_spec[0], request.size, 1));
    }
    if (!request.batched[0]) {
      rhs = merge_batch(rhs, a_.rhs_spec[0], groups);
      return one(
          split_batch(convolved_as_is(lhs, rhs, whole), a_.out_spec[1], request.size, groups));
    }
    if (a_.batch_group_count > 1) {
      lhs = merge_batch(lhs, a_.lhs_spec[0], 1);
      whole.batch_group_count *= request.size;
    } else {
      lhs = merge_batch(lhs, a_.lhs_spec[1], 1);
      whole.feature_group_count *= request.size;
    }
    rhs = merge_batch(rhs, a_.rhs_spec[0], 1);
    return one(split_batch(convolved_as_is(lhs, rhs, whole), a_.out_spec[1], request.size, 1));
  }

 private:
  std::string dimension_text() const {
    return fmt::format("{}x{}->{}", axes_text(a_.lhs_spec, "b", "f"),
                       axes_text(a_.rhs_spec, "o", "i"), axes_text(a_.out_spec, "b", "f"));
  }
  std::string padding_text() const {
    std::string text;
    for (const auto& [low, high] : a_.padding) {
      text += fmt::format("{}[{}, {}]", text.empty() ? "" : ", ", low, high);
    }
    return text;
  }

  void check_ranks(std::span<const AbstractValue> inputs) const {
    const std::size_t ndim = a_.lhs_spec.size();
    if (inputs[0].shape.size() != ndim || inputs[1].shape.size() != ndim || ndim < 2) {
      throw_value_error(
          name(), fmt::format("lhs {} and kernel {} must both have {} axes, as the "
                              "dimension numbers {} say",
                              to_string(inputs[0]), to_string(inputs[1]), ndim, dimension_text()));
    }
    const std::size_t spatial = ndim - 2;
    for (const auto& [list, what] : {std::pair(&a_.window_strides, "window_strides"),
                                     std::pair(&a_.lhs_dilation, "lhs_dilation"),
                                     std::pair(&a_.rhs_dilation, "rhs_dilation")}) {
      if (list->size() == spatial &&
          std::all_of(list->begin(), list->end(), [](std::int64_t v) { return v >= 1; })) {
        continue;
      }
      throw_value_error(name(), fmt::format("{} [{}] must have {} entries, one for each spatial "
                                            "axis, all at least 1",
                                            what, join(*list), spatial));
    }
    if (a_.padding.size() != spatial) {
      throw_value_error(name(), fmt::format("padding [{}] must have {} entries, one for each "
                                            "spatial axis",
                                            padding_text(), spatial));
    }
  }

  void check_groups(std::span<const AbstractValue> inputs) const {
    const std::int64_t features = at(inputs[0].shape, a_.lhs_spec[1]);
    const std::int64_t batch = at(inputs[0].shape, a_.lhs_spec[0]);
    const std::int64_t in = at(inputs[1].shape, a_.rhs_spec[1]);
    const std::int64_t out = at(inputs[1].shape, a_.rhs_spec[0]);
    const std::int64_t groups = a_.feature_group_count;
    const std::int64_t batch_groups = a_.batch_group_count;
    if (groups < 1 || batch_groups < 1 || (groups > 1 && batch_groups > 1)) {
      throw_value_error(name(),
                        fmt::format("feature_group_count {} and batch_group_count {} must be "
                                    "at least 1, and only one of them more",
                                    groups, batch_groups));
    }
    if (features != in * groups) {
      throw_value_error(
          name(),
          fmt::format("input features differ: lhs {} has {} at axis {}, kernel {} has {} at "
                      "axis {}{}; check the layer sizes or the dimension numbers {}",
                      to_string(inputs[0]), features, a_.lhs_spec[1], to_string(inputs[1]), in,
                      a_.rhs_spec[1], groups == 1 ? "" : fmt::format(" times {} groups", groups),
                      dimension_text()));
    }
    if (out % groups != 0 || out % batch_groups != 0 || batch % batch_groups != 0) {
      throw_value_error(name(),
                        fmt::format("{} output features of kernel {} and a batch of {} must "
                                    "be divisible by feature_group_count {} and "
                                    "batch_group_count {}",
                                    out, to_string(inputs[1]), batch, groups, batch_groups));
    }
  }

  static Array convolved_as_is(const Array& lhs, const Array& rhs, ConvAttributes attributes) {
    return apply_one(primitives::convolution(std::move(attributes)), std::vector<Array>{lhs, rhs});
  }

  Array convolved(const Array& lhs, const Array& rhs, ConvAttributes attributes,
                  DType dtype) const {
    const DType wide = a_.preferred_element_type.value_or(dtype);
    attributes.precision = a_.precision;
    const auto cast_to = [](const Array& x, DType to) {
      return x.dtype() == to ? x : astype(x, to);
    };
    const Array result = apply_one(primitives::convolution(std::move(attributes)),
                                   std::vector<Array>{cast_to(lhs, wide), cast_to(rhs, wide)});
    return cast_to(result, dtype);
  }

  // The cotangent convolved with the kernel turned round: strides become dilation, features change
  // sides, and the padding makes every place reach the input elements its window covered.
  Array lhs_cotangent(const Array& g, const Array& lhs, const Array& rhs) const {
    const std::size_t spatial = a_.window_strides.size();
    ConvAttributes back;
    back.lhs_spec = a_.out_spec;
    back.rhs_spec = swapped(a_.rhs_spec);
    back.out_spec = a_.lhs_spec;
    back.window_strides = a_.lhs_dilation;
    back.lhs_dilation = a_.window_strides;
    back.rhs_dilation = a_.rhs_dilation;
    for (std::size_t i = 0; i < spatial; ++i) {
      const std::int64_t window = dilated(at(rhs.shape(), a_.rhs_spec[i + 2]), a_.rhs_dilation[i]);
      const std::int64_t input = dilated(at(lhs.shape(), a_.lhs_spec[i + 2]), a_.lhs_dilation[i]);
      const std::int64_t output = dilated(at(g.shape(), a_.out_spec[i + 2]), a_.window_strides[i]);
      const std::int64_t low = window - 1 - a_.padding[i].first;
      back.padding.emplace_back(low, input + window - 1 - output - low);
    }
    Axes spatial_axes(a_.rhs_spec.begin() + 2, a_.rhs_spec.end());
    std::sort(spatial_axes.begin(), spatial_axes.end());
    Array kernel = spatial_axes.empty() ? rhs : lockstep::flip(rhs, spatial_axes);
    const std::int64_t groups = std::max(a_.feature_group_count, a_.batch_group_count);
    if (groups > 1) {
      // Output features hold the groups; in the turned kernel the other side must.
      kernel = move_groups(kernel, a_.rhs_spec[0], a_.rhs_spec[1], groups);
      back.feature_group_count = groups;
    }
    Array result = convolved(g, kernel, std::move(back), lhs.dtype());
    if (a_.batch_group_count > 1) {
      result = move_groups(result, a_.lhs_spec[1], a_.lhs_spec[0], a_.batch_group_count);
    }
    return result;
  }

  // The input convolved with the cotangent: batch and features change places on both sides, strides
  // and kernel dilation change places.
  Array rhs_cotangent(const Array& g, const Array& lhs, const Array& rhs) const {
    ConvAttributes back;
    back.lhs_spec = swapped(a_.lhs_spec);
    back.rhs_spec = swapped(a_.out_spec);
    back.out_spec = swapped(a_.rhs_spec);
    back.window_strides = a_.rhs_dilation;
    back.lhs_dilation = a_.lhs_dilation;
    back.rhs_dilation = a_.window_strides;
    for (std::size_t i = 0; i < a_.window_strides.size(); ++i) {
      const std::int64_t window = dilated(at(rhs.shape(), a_.rhs_spec[i + 2]), a_.rhs_dilation[i]);
      const std::int64_t input = dilated(at(lhs.shape(), a_.lhs_spec[i + 2]), a_.lhs_dilation[i]);
      const std::int64_t output = dilated(at(g.shape(), a_.out_spec[i + 2]), a_.window_strides[i]);
      const std::int64_t low = a_.padding[i].first;
      back.padding.emplace_back(low, output - input + window - 1 - low);
    }
    if (a_.batch_group_count > 1) {
      back.feature_group_count = a_.batch_group_count;
    } else {
      back.batch_group_count = a_.feature_group_count;
    }
    return convolved(lhs, g, std::move(back), rhs.dtype());
  }

  ConvAttributes a_;
};

}  // namespace

namespace primitives {
PrimitivePtr convolution(ConvAttributes attributes) {
  return std::make_shared<Convolution>(std::move(attributes));
}
}  // namespace primitives

void add_convolution_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "conv_general_dilated", .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     const auto add = [&](Shape lhs, Shape rhs, ConvAttributes attributes) {
                       samples.push_back(
                           {.primitive = primitives::convolution(std::move(attributes)),
                            .inputs = {f64(std::move(lhs)), f64(std::move(rhs))}});
                     };
                     const std::int64_t h = sampler.integer(4, 6);
                     const std::int64_t w = sampler.integer(4, 5);
                     // NHWC, HWIO, NHWC.
                     ConvAttributes plain{.lhs_spec = {0, 3, 1, 2},
                                          .rhs_spec = {3, 2, 0, 1},
                                          .out_spec = {0, 3, 1, 2},
                                          .window_strides = {1, 1},
                                          .padding = {{1, 1}, {1, 1}},
                                          .lhs_dilation = {1, 1},
                                          .rhs_dilation = {1, 1}};
                     plain.precision = Precision::Highest;
                     add({2, h, w, 3}, {3, 3, 3, 2}, plain);
                     ConvAttributes strided = plain;
                     strided.window_strides = {2, 3};
                     strided.padding = {{0, 1}, {2, 0}};
                     strided.rhs_dilation = {1, 2};
                     add({1, h, w, 2}, {2, 2, 2, 3}, strided);
                     ConvAttributes dilated_lhs = plain;
                     dilated_lhs.lhs_dilation = {2, 1};
                     dilated_lhs.padding = {{-1, 2}, {0, 0}};
                     add({1, h, w, 1}, {3, 2, 1, 2}, dilated_lhs);
                     ConvAttributes grouped = plain;
                     grouped.feature_group_count = 2;
                     add({2, h, w, 4}, {2, 3, 2, 6}, grouped);
                     ConvAttributes batched = plain;
                     batched.batch_group_count = 2;
                     add({4, h, w, 2}, {2, 2, 2, 4}, batched);
                     // NCW, OIW, NCW.
                     add({2, 3, h}, {2, 3, 2},
                         {.lhs_spec = {0, 1, 2},
                          .rhs_spec = {0, 1, 2},
                          .out_spec = {0, 1, 2},
                          .window_strides = {2},
                          .padding = {{1, 0}},
                          .lhs_dilation = {1},
                          .rhs_dilation = {1},
                          .precision = Precision::Highest});
                     return samples;
                   }});
}

}  // namespace lockstep
