// gather and scatter_add: slices at computed places, each the other's derivative.
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

using primitives::Axes;

Axes joined(Axes a, const Axes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string field(std::string_view name, const Axes& axes) {
  return axes.empty() ? std::string() : fmt::format("{} = [{}], ", name, join(axes));
}

void check_indices(std::string_view where, const AbstractValue& indices, std::size_t num_mapped) {
  if (is_integer(indices.dtype) && !indices.shape.empty() &&
      indices.shape.back() == static_cast<std::int64_t>(num_mapped)) {
    return;
  }
  throw_value_error(where,
                    fmt::format("indices are {}; they must be integers whose last axis holds "
                                "index vectors of length {}",
                                to_string(indices), num_mapped));
}

class Gather final : public Primitive {
 public:
  Gather(GatherDimensionNumbers dimensions, Shape slice_sizes)
      : d_(std::move(dimensions)), slice_sizes_(std::move(slice_sizes)) {}
  std::string_view name() const override { return "gather"; }
  std::string attributes() const override {
    return fmt::format("{}slice_sizes = {}", dimension_fields(), to_string(slice_sizes_));
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 2);
    const AbstractValue& operand = inputs[0];
    const AbstractValue& indices = inputs[1];
    check_axes(name(), "start_index_map", d_.start_index_map, operand);
    check_indices(name(), indices, d_.start_index_map.size());
    const Axes dropped = joined(d_.collapsed_slice_dims, d_.operand_batching_dims);
    check_axes(name(), "collapsed_slice_dims and operand_batching_dims", dropped, operand);
    check_axes(name(), "start_indices_batching_dims", d_.start_indices_batching_dims, indices);
    bool fits = slice_sizes_.size() == operand.shape.size();
    for (std::size_t i = 0; fits && i < slice_sizes_.size(); ++i) {
      const bool is_dropped = contains(dropped, static_cast<std::int64_t>(i));
      fits = slice_sizes_[i] >= 0 && slice_sizes_[i] <= operand.shape[i] &&
             (!is_dropped || slice_sizes_[i] == 1);
    }
    if (!fits) {
      throw_value_error(name(),
                        fmt::format("slice_sizes {} of {}: no size may exceed the axis, and "
                                    "the dropped axes [{}] must have size 1",
                                    to_string(slice_sizes_), to_string(operand), join(dropped)));
    }
    const Shape window = without_axes(slice_sizes_, dropped);
    const std::size_t ndim = window.size() + indices.shape.size() - 1;
    if (d_.offset_dims.size() != window.size()) {
      throw_value_error(name(), fmt::format("offset_dims [{}] must name a result axis for each of "
                                            "the {} slice axes that stay",
                                            join(d_.offset_dims), window.size()));
    }
    AbstractValue result{Shape(ndim, -1), operand.dtype, operand.weak_type};
    check_axes(name(), "offset_dims", d_.offset_dims, result);
    for (std::size_t i = 0; i < window.size(); ++i) {
      result.shape[static_cast<std::size_t>(d_.offset_dims[i])] = window[i];
    }
    std::size_t batch = 0;
    for (std::int64_t& length : result.shape) {
      if (length == -1) length = indices.shape[batch++];
    }
    return {result};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit(
        "stablehlo.gather", inputs, input_values, output_values,
        fmt::format("dimension_numbers = #stablehlo.gather<{}index_vector_dim = {}>, "
                    "indices_are_sorted = false, slice_sizes = {}",
                    dimension_fields(), input_values[1].shape.size() - 1, dense_i64(slice_sizes_)));
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<Array> result(2);
    const Array& g = request.cotangents[0];
    if (g.is_null() || !request.needed[0]) return result;
    ScatterDimensionNumbers back{.update_window_dims = d_.offset_dims,
                                 .inserted_window_dims = d_.collapsed_slice_dims,
                                 .scatter_dims_to_operand_dims = d_.start_index_map,
                                 .operand_batching_dims = d_.operand_batching_dims,
                                 .scatter_indices_batching_dims = d_.start_indices_batching_dims};
    const Array starts = clamped(request.inputs[1], request.inputs[0].shape());
    result[0] = scatter_add(zeros_like(request.inputs[0], g.dtype()), starts, g, back);
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    if (request.tangents[0].is_null()) return one({});
    return one(lockstep::gather(request.tangents[0], request.inputs[1], d_, slice_sizes_));
  }

  // Indices that all examples share take slices of the whole batch; others make its axis a batching
  // dimension of the operand, of the indices, or of both.
  std::vector<Array> batch(const BatchRequest& request) const override {
    GatherDimensionNumbers whole = d_;
    Shape sizes = slice_sizes_;
    if (request.batched[0]) {
      whole.collapsed_slice_dims = shifted(d_.collapsed_slice_dims);
      whole.start_index_map = shifted(d_.start_index_map);
      whole.operand_batching_dims = shifted(d_.operand_batching_dims);
      sizes = prepended(request.batched[1] ? 1 : request.size, sizes);
    }
    whole.offset_dims = shifted(d_.offset_dims);
    if (request.batched[1]) {
      whole.start_indices_batching_dims = shifted(d_.start_indices_batching_dims);
      if (request.batched[0]) {
        whole.operand_batching_dims = with_batch_axis(d_.operand_batching_dims);
        whole.start_indices_batching_dims = with_batch_axis(d_.start_indices_batching_dims);
      }
    } else {
      whole.offset_dims = with_batch_axis(d_.offset_dims);
    }
    return one(lockstep::gather(request.inputs[0], request.inputs[1], whole, sizes));
  }

 private:
  std::string dimension_fields() const {
    return field("offset_dims", d_.offset_dims) +
           field("collapsed_slice_dims", d_.collapsed_slice_dims) +
           field("operand_batching_dims", d_.operand_batching_dims) +
           field("start_indices_batching_dims", d_.start_indices_batching_dims) +
           field("start_index_map", d_.start_index_map);
  }

  // The starts that the slices have in fact: gather moves those that do not fit, where scatter_add
  // would drop them.
  Array clamped(const Array& indices, const Shape& operand) const {
    const DType dtype = indices.dtype();
    const int digits = std::min(bit_width(dtype) - (is_signed_integer(dtype) ? 1 : 0), 63);
    const auto representable = static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - digits));
    std::vector<std::int64_t> last;
    for (const std::int64_t axis : d_.start_index_map) {
      last.push_back(std::min(at(operand, axis) - at(slice_sizes_, axis), representable));
    }
    const Shape shape{static_cast<std::int64_t>(last.size())};
    const Array limits = cast(HostTensor::from(last, shape), dtype);
    return minimum(maximum(indices, zeros_like(indices)), limits);
  }

  GatherDimensionNumbers d_;
  Shape slice_sizes_;
};

class ScatterAdd final : public Primitive {
 public:
  explicit ScatterAdd(ScatterDimensionNumbers dimensions) : d_(std::move(dimensions)) {}
  std::string_view name() const override { return "scatter_add"; }
  std::string attributes() const override { return dimension_fields(); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 3);
    const AbstractValue& operand = inputs[0];
    const AbstractValue& indices = inputs[1];
    const AbstractValue& updates = inputs[2];
    check_same_dtype(name(), std::vector<AbstractValue>{operand, updates});
    check_accepts(name(), Accepts::Number, operand);
    const Axes dropped = joined(d_.inserted_window_dims, d_.operand_batching_dims);
    check_axes(name(), "inserted_window_dims and operand_batching_dims", dropped, operand);
    check_axes(name(), "scatter_dims_to_operand_dims", d_.scatter_dims_to_operand_dims, operand);
    check_axes(name(), "update_window_dims", d_.update_window_dims, updates);
    check_indices(name(), indices, d_.scatter_dims_to_operand_dims.size());
    const Shape batch = without_axes(updates.shape, d_.update_window_dims);
    const Shape expected(indices.shape.begin(), indices.shape.end() - 1);
    const Shape room = without_axes(operand.shape, dropped);
    bool fits = batch == expected && d_.update_window_dims.size() == room.size();
    for (std::size_t i = 0; fits && i < room.size(); ++i) {
      fits = at(updates.shape, d_.update_window_dims[i]) <= room[i];
    }
    if (!fits) {
      throw_value_error(
          name(), fmt::format("updates {} do not fit: outside their window axes [{}] "
                              "they must have the indices' shape {}, inside at most "
                              "{}, the operand {} without axes [{}]",
                              to_string(updates), join(d_.update_window_dims), to_string(expected),
                              to_string(room), to_string(operand), join(dropped)));
    }
    return {{operand.shape, operand.dtype, all_weak(std::vector<AbstractValue>{operand, updates})}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    std::string fields = field("update_window_dims", d_.update_window_dims) +
                         field("inserted_window_dims", d_.inserted_window_dims) +
                         field("input_batching_dims", d_.operand_batching_dims) +
                         field("scatter_indices_batching_dims", d_.scatter_indices_batching_dims) +
                         field("scatter_dims_to_operand_dims", d_.scatter_dims_to_operand_dims);
    return builder.emit(
        "stablehlo.scatter", inputs, input_values, output_values,
        fmt::format("indices_are_sorted = false, scatter_dimension_numbers = "
                    "#stablehlo.scatter<{}index_vector_dim = {}>, unique_indices = false",
                    fields, input_values[1].shape.size() - 1),
        std::vector<std::string>{binary_region(builder, "stablehlo.add", input_values[0].dtype)});
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<Array> result(3);
    const Array& g = request.cotangents[0];
    if (g.is_null()) return result;
    if (request.needed[0]) result[0] = g;
    if (request.needed[2]) result[2] = read_back(g, request.inputs[1], request.inputs[2].shape());
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    const Array& operand = request.tangents[0];
    const Array& updates = request.tangents[2];
    if (updates.is_null()) return one(operand);
    return one(lockstep::scatter_add(operand.is_null() ? zeros_like(request.inputs[0]) : operand,
                                     request.inputs[1], updates, d_));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    ScatterDimensionNumbers whole{
        .update_window_dims = shifted(d_.update_window_dims),
        .inserted_window_dims = shifted(d_.inserted_window_dims),
        .scatter_dims_to_operand_dims = shifted(d_.scatter_dims_to_operand_dims),
        .operand_batching_dims = shifted(d_.operand_batching_dims),
        .scatter_indices_batching_dims = d_.scatter_indices_batching_dims};
    if (request.batched[1]) {
      whole.operand_batching_dims = with_batch_axis(d_.operand_batching_dims);
      whole.scatter_indices_batching_dims = with_batch_axis(d_.scatter_indices_batching_dims);
    } else {
      whole.update_window_dims = with_batch_axis(d_.update_window_dims);
    }
    return one(lockstep::scatter_add(batched_operand(request, 0), request.inputs[1],
                                     batched_operand(request, 2), whole));
  }

 private:
  std::string dimension_fields() const {
    return field("update_window_dims", d_.update_window_dims) +
           field("inserted_window_dims", d_.inserted_window_dims) +
           field("operand_batching_dims", d_.operand_batching_dims) +
           field("scatter_indices_batching_dims", d_.scatter_indices_batching_dims) +
           field("scatter_dims_to_operand_dims", d_.scatter_dims_to_operand_dims);
  }

  // g where each update was added; 0 for the updates that were dropped.
  Array read_back(const Array& g, const Array& indices, const Shape& updates) const {
    const Axes dropped = joined(d_.inserted_window_dims, d_.operand_batching_dims);
    Shape sizes(g.shape().size(), 1);
    std::size_t window = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (!contains(dropped, static_cast<std::int64_t>(i))) {
        sizes[i] = at(updates, d_.update_window_dims[window++]);
      }
    }
    const Array read =
        lockstep::gather(g, indices,
                         {.offset_dims = d_.update_window_dims,
                          .collapsed_slice_dims = d_.inserted_window_dims,
                          .start_index_map = d_.scatter_dims_to_operand_dims,
                          .operand_batching_dims = d_.operand_batching_dims,
                          .start_indices_batching_dims = d_.scatter_indices_batching_dims},
                         sizes);
    // Whether each index vector's window fits.
    const std::int64_t last = indices.ndim() - 1;
    Array fits;
    for (std::size_t i = 0; i < d_.scatter_dims_to_operand_dims.size(); ++i) {
      const std::int64_t axis = d_.scatter_dims_to_operand_dims[i];
      const Array index = index_in_dim(indices, static_cast<std::int64_t>(i), last);
      const Array fits_here =
          logical_and(index >= 0, index <= at(g.shape(), axis) - at(sizes, axis));
      fits = fits.is_null() ? fits_here : logical_and(fits, fits_here);
    }
    if (fits.is_null()) return read;
    const Axes batch_axes =
        remaining_axes(static_cast<std::int64_t>(updates.size()), d_.update_window_dims);
    return select(broadcast_in_dim(fits, updates, batch_axes), read, zeros_like(read));
  }

  ScatterDimensionNumbers d_;
};

}  // namespace

namespace primitives {
PrimitivePtr gather(GatherDimensionNumbers dimensions, Shape slice_sizes) {
  return std::make_shared<Gather>(std::move(dimensions), std::move(slice_sizes));
}
PrimitivePtr scatter_add(ScatterDimensionNumbers dimensions) {
  return std::make_shared<ScatterAdd>(std::move(dimensions));
}
}  // namespace primitives

void add_gather_scatter_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back(
      {.name = "gather", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         const std::int64_t n = sampler.integer(3, 5);
         const AbstractValue indices = of_type(DType::Int32, {4, 1});
         return std::vector<PrimitiveSample>{
             // Rows; pairs of indices with a window; one element of each row; no index.
             {.primitive = primitives::gather(
                  {.offset_dims = {1}, .collapsed_slice_dims = {0}, .start_index_map = {0}},
                  {1, n}),
              .inputs = {f64({3, n}), indices}},
             {.primitive =
                  primitives::gather({.offset_dims = {0, 2}, .start_index_map = {1, 0}}, {1, 2}),
              .inputs = {f64({4, 4}), of_type(DType::Int64, {3, 2})}},
             {.primitive = primitives::gather({.collapsed_slice_dims = {1},
                                               .start_index_map = {1},
                                               .operand_batching_dims = {0},
                                               .start_indices_batching_dims = {0}},
                                              {1, 1}),
              .inputs = {f64({4, n}), indices}},
             {.primitive = primitives::gather({.offset_dims = {0}, .start_index_map = {0}}, {2}),
              .inputs = {of_type(DType::Int8, {4}), of_type(DType::UInt32, {0, 1})}},
         };
       }});
  kinds.push_back(
      {.name = "scatter_add", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         const std::int64_t n = sampler.integer(3, 5);
         const AbstractValue indices = of_type(DType::Int32, {4, 1});
         return std::vector<PrimitiveSample>{
             {.primitive = primitives::scatter_add({.update_window_dims = {1},
                                                    .inserted_window_dims = {0},
                                                    .scatter_dims_to_operand_dims = {0}}),
              .inputs = {f64({3, n}), indices, f64({4, n})}},
             // Some windows of length 2 do not fit into 3.
             {.primitive = primitives::scatter_add(
                  {.update_window_dims = {1}, .scatter_dims_to_operand_dims = {0}}),
              .inputs = {f64({3}), indices, f64({4, 2})}},
             {.primitive = primitives::scatter_add({.inserted_window_dims = {1},
                                                    .scatter_dims_to_operand_dims = {1},
                                                    .operand_batching_dims = {0},
                                                    .scatter_indices_batching_dims = {0}}),
              .inputs = {f64({4, n}), indices, f64({4})}},
             {.primitive = primitives::scatter_add(
                  {.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}}),
              .inputs = {of_type(DType::Int32, {3}), indices, of_type(DType::Int32, {4})}},
         };
       }});
}

}  // namespace lockstep
