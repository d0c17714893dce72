// dynamic_slice and dynamic_update_slice: windows at computed places.
#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/indexing.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

void check_starts(std::string_view where, std::span<const AbstractValue> starts,
                  const AbstractValue& operand) {
  if (starts.size() != operand.shape.size()) {
    throw_value_error(where, fmt::format("{} start indices for {}; there must be one for each axis",
                                         starts.size(), to_string(operand)));
  }
  for (const AbstractValue& start : starts) {
    if (start.shape.empty() && is_integer(start.dtype) && start.dtype == starts[0].dtype) continue;
    throw_value_error(where, fmt::format("start indices are {}; they must be integer scalars of "
                                         "one type",
                                         describe(starts)));
  }
}

// The window must fit in the operand along every axis.
void check_window(std::string_view where, const Shape& window, const AbstractValue& operand) {
  bool fits = window.size() == operand.shape.size();
  for (std::size_t i = 0; fits && i < window.size(); ++i) {
    fits = window[i] >= 0 && window[i] <= operand.shape[i];
  }
  if (fits) return;
  throw_value_error(where,
                    fmt::format("a window of shape {} does not fit into {}; it needs as many "
                                "axes, none longer",
                                to_string(window), to_string(operand)));
}

std::vector<Array> starts_of(std::span<const Array> inputs, std::size_t first) {
  return {inputs.begin() + static_cast<std::ptrdiff_t>(first), inputs.end()};
}

Array slice_at(const Array& x, std::vector<Array> starts, const Shape& sizes) {
  starts.insert(starts.begin(), x);
  return apply_one(primitives::dynamic_slice(sizes), starts);
}

Array update_at(const Array& x, const Array& update, std::vector<Array> starts) {
  starts.insert(starts.begin(), {x, update});
  return apply_one(primitives::dynamic_update_slice(), starts);
}

// The starts of a batch that all examples share: its own axis is taken whole.
std::vector<Array> with_batch_start(const BatchRequest& request, std::size_t first) {
  std::vector<Array> starts = starts_of(request.inputs, first);
  const DType dtype = starts.empty() ? DType::Int32 : starts[0].dtype();
  starts.insert(starts.begin(), zeros({}, dtype));
  return starts;
}

// The starts of each example as a row.
Array stacked_starts(const BatchRequest& request, std::size_t first) {
  return stack(batched_operands(request, first), 1);
}

class DynamicSlice final : public Primitive {
 public:
  explicit DynamicSlice(Shape sizes) : sizes_(std::move(sizes)) {}
  std::string_view name() const override { return "dynamic_slice"; }
  std::string attributes() const override { return fmt::format("sizes = {}", to_string(sizes_)); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    if (inputs.empty()) check_num_inputs(name(), inputs, 1);
    check_starts(name(), inputs.subspan(1), inputs[0]);
    check_window(name(), sizes_, inputs[0]);
    return {{sizes_, inputs[0].dtype, inputs[0].weak_type}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.dynamic_slice", inputs, input_values, output_values,
                        "slice_sizes = " + dense_i64(sizes_));
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<Array> result(request.inputs.size());
    const Array& g = request.cotangents[0];
    if (g.is_null() || !request.needed[0]) return result;
    result[0] =
        update_at(zeros_like(request.inputs[0], g.dtype()), g, starts_of(request.inputs, 1));
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    if (request.tangents[0].is_null()) return one({});
    return one(slice_at(request.tangents[0], starts_of(request.inputs, 1), sizes_));
  }

  // Starts that differ between examples make it a gather of one slice for each.
  std::vector<Array> batch(const BatchRequest& request) const override {
    if (!any_batched(request, 1)) {
      return one(slice_at(request.inputs[0], with_batch_start(request, 1),
                          prepended(request.size, sizes_)));
    }
    const auto ndim = static_cast<std::int64_t>(sizes_.size());
    GatherDimensionNumbers dimensions{.offset_dims = shifted(range(ndim)),
                                      .start_index_map = range(ndim)};
    Shape sizes = sizes_;
    if (request.batched[0]) {
      dimensions.start_index_map = shifted(range(ndim));
      dimensions.operand_batching_dims = {0};
      dimensions.start_indices_batching_dims = {0};
      sizes = prepended(1, sizes);
    }
    return one(gather(request.inputs[0], stacked_starts(request, 1), dimensions, sizes));
  }

 private:
  Shape sizes_;
};

class DynamicUpdateSlice final : public Primitive {
 public:
  std::string_view name() const override { return "dynamic_update_slice"; }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    if (inputs.size() < 2) check_num_inputs(name(), inputs, 2);
    check_same_dtype(name(), inputs.first(2));
    check_starts(name(), inputs.subspan(2), inputs[0]);
    check_window(name(), inputs[1].shape, inputs[0]);
    return {{inputs[0].shape, inputs[0].dtype, all_weak(inputs.first(2))}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.dynamic_update_slice", inputs, input_values, output_values);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<Array> result(request.inputs.size());
    const Array& g = request.cotangents[0];
    if (g.is_null()) return result;
    const std::vector<Array> starts = starts_of(request.inputs, 2);
    const Array& update = request.inputs[1];
    if (request.needed[0]) result[0] = update_at(g, zeros_like(update, g.dtype()), starts);
    if (request.needed[1]) result[1] = slice_at(g, starts, update.shape());
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    if (request.tangents[0].is_null() && request.tangents[1].is_null()) return one({});
    const auto or_zero = [&](std::size_t i) {
      return request.tangents[i].is_null() ? zeros_like(request.inputs[i]) : request.tangents[i];
    };
    return one(update_at(or_zero(0), or_zero(1), starts_of(request.inputs, 2)));
  }

  // Starts that differ between examples make it a scatter of one window for each.
  std::vector<Array> batch(const BatchRequest& request) const override {
    const Array x = batched_operand(request, 0);
    const Array update = batched_operand(request, 1);
    if (!any_batched(request, 2)) return one(update_at(x, update, with_batch_start(request, 2)));
    const Shape window(update.shape().begin() + 1, update.shape().end());
    const auto ndim = static_cast<std::int64_t>(window.size());
    Shape last;
    for (std::size_t i = 0; i < window.size(); ++i) last.push_back(x.shape()[i + 1] - window[i]);
    const Array starts = stacked_starts(request, 2);
    const Array limits = cast(HostTensor::from(last, Shape{ndim}), DType::Int64);
    const Array fitting =
        minimum(maximum(astype(starts, DType::Int64), zeros_like(limits)), limits);
    const ScatterDimensionNumbers dimensions{.update_window_dims = shifted(range(ndim)),
                                             .scatter_dims_to_operand_dims = shifted(range(ndim)),
                                             .operand_batching_dims = {0},
                                             .scatter_indices_batching_dims = {0}};
    // Where the window lies, and what lies there: each element gets one update, so sums are exact.
    const bool is_bool = x.dtype() == DType::Bool;
    const auto placed = [&](const Array& window_elements) {
      return scatter_add(zeros(x.shape(), window_elements.dtype()), fitting, window_elements,
                         dimensions);
    };
    const Array covered = placed(ones(update.shape(), DType::Int8));
    const Array values = placed(is_bool ? astype(update, DType::Int8) : update);
    return one(select(covered != 0, is_bool ? values != 0 : values, x));
  }
};

}  // namespace

namespace primitives {
PrimitivePtr dynamic_slice(Shape sizes) {
  return std::make_shared<DynamicSlice>(std::move(sizes));
}
PrimitivePtr dynamic_update_slice() {
  static const PrimitivePtr made = std::make_shared<DynamicUpdateSlice>();
  return made;
}
}  // namespace primitives

void add_dynamic_slice_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "dynamic_slice", .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     const Shape s = sampler.shape(2, 2, 5);
                     const AbstractValue start = of_type(DType::Int32, {});
                     return std::vector<PrimitiveSample>{
                         {.primitive = primitives::dynamic_slice({1, s[1] - 1}),
                          .inputs = {f64(s), start, start}},
                         {.primitive = primitives::dynamic_slice({2}),
                          .inputs = {f64({6}), of_type(DType::Int64, {})}},
                         {.primitive = primitives::dynamic_slice({}), .inputs = {f64({})}},
                         {.primitive = primitives::dynamic_slice({0, 2}),
                          .inputs = {of_type(DType::Bool, {3, 2}), start, start}},
                     };
                   }});
  kinds.push_back(
      {.name = "dynamic_update_slice", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         const Shape s = sampler.shape(2, 2, 5);
         const AbstractValue start = of_type(DType::Int32, {});
         const auto update = primitives::dynamic_update_slice();
         return std::vector<PrimitiveSample>{
             {.primitive = update, .inputs = {f64(s), f64({1, s[1] - 1}), start, start}},
             {.primitive = update, .inputs = {f64({6}), f64({2}), of_type(DType::UInt32, {})}},
             {.primitive = update, .inputs = {f64({}), f64({})}},
             {.primitive = update,
              .inputs = {of_type(DType::Int8, {3}), of_type(DType::Int8, {0}), start}},
         };
       }});
}

}  // namespace lockstep
