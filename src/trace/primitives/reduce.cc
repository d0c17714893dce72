// Reductions over axes: sum, product, maximum, minimum, and, or.
#include <fmt/format.h>

#include <algorithm>
#include <array>

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
using primitives::Reduction;

struct ReductionRow {
  std::string_view name;
  std::string_view op;
  Accepts accepted;
};

const ReductionRow& row_of(Reduction kind) {
  static constexpr std::array rows = {
      ReductionRow{"reduce_sum", "stablehlo.add", Accepts::Number},
      ReductionRow{"reduce_prod", "stablehlo.multiply", Accepts::Number},
      ReductionRow{"reduce_max", "stablehlo.maximum", Accepts::Anything},
      ReductionRow{"reduce_min", "stablehlo.minimum", Accepts::Anything},
      ReductionRow{"reduce_and", "stablehlo.and", Accepts::IntegerOrBool},
      ReductionRow{"reduce_or", "stablehlo.or", Accepts::IntegerOrBool},
  };
  return rows.at(static_cast<std::size_t>(kind));
}

// The value that leaves others as they are.
std::string identity_text(Reduction kind, DType dtype) {
  switch (kind) {
    case Reduction::Sum: return is_floating(dtype) ? "0.0" : is_complex(dtype) ? "(0.0, 0.0)" : "0";
    case Reduction::Prod:
      return is_floating(dtype) ? "1.0" : is_complex(dtype) ? "(1.0, 0.0)" : "1";
    case Reduction::Max: return lowest_text(dtype);
    case Reduction::Min: return highest_text(dtype);
    case Reduction::And:
      return dtype == DType::Bool         ? "true"
             : is_unsigned_integer(dtype) ? highest_text(dtype)
                                          : "-1";
    case Reduction::Or: return dtype == DType::Bool ? "false" : "0";
  }
  return {};
}

Array reduced(Reduction kind, const Array& x, const Axes& axes) {
  return apply_one(primitives::reduce(kind, axes), std::vector<Array>{x});
}

class Reduce final : public Primitive {
 public:
  Reduce(Reduction kind, Axes axes) : kind_(kind), axes_(std::move(axes)) {}
  std::string_view name() const override { return row_of(kind_).name; }
  std::string attributes() const override { return fmt::format("axes = [{}]", join(axes_)); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    check_accepts(name(), row_of(kind_).accepted, inputs[0]);
    check_axes(name(), "axes", axes_, inputs[0]);
    if (kind_ == Reduction::Max || kind_ == Reduction::Min) {
      if (is_complex(inputs[0].dtype)) {
        throw_value_error(name(),
                          fmt::format("complex numbers have no order; got {}. Compare abs(x)",
                                      to_string(inputs[0])));
      }
      for (const std::int64_t axis : axes_) {
        if (at(inputs[0].shape, axis) != 0) continue;
        throw_value_error(
            name(), fmt::format("axis {} of {} has length 0, and nothing has no {}; "
                                "check the shape that comes in",
                                axis, to_string(inputs[0]),
                                kind_ == Reduction::Max ? "largest element" : "smallest element"));
      }
    }
    return {{without_axes(inputs[0].shape, axes_), inputs[0].dtype, inputs[0].weak_type}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    if (axes_.empty()) return {inputs[0]};
    const DType dtype = input_values[0].dtype;
    const std::string initial = scalar_constant(builder, dtype, identity_text(kind_, dtype));
    const std::string region = binary_region(builder, row_of(kind_).op, dtype);
    return builder.emit("stablehlo.reduce", std::vector<std::string>{inputs[0], initial},
                        std::vector<AbstractValue>{input_values[0], {.shape = {}, .dtype = dtype}},
                        output_values, "dimensions = " + dense_i64(axes_),
                        std::vector<std::string>{region});
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    const Array& g = request.cotangents[0];
    if (g.is_null()) return one({});
    const Array& x = request.inputs[0];
    switch (kind_) {
      case Reduction::Sum: return one(spread(g, x.shape()));
      case Reduction::Prod: return one(spread(g, x.shape()) * product_of_others(x));
      case Reduction::Max:
      case Reduction::Min:
        return one(spread(g, x.shape()) * share_of_winners(x, request.outputs[0]));
      default: return one({});
    }
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    const Array& t = request.tangents[0];
    if (t.is_null()) return one({});
    const Array& x = request.inputs[0];
    switch (kind_) {
      case Reduction::Sum: return one(reduced(Reduction::Sum, t, axes_));
      case Reduction::Prod: return one(reduced(Reduction::Sum, t * product_of_others(x), axes_));
      case Reduction::Max:
      case Reduction::Min:
        return one(reduced(Reduction::Sum, t * share_of_winners(x, request.outputs[0]), axes_));
      default: return one({});
    }
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return one(reduced(kind_, request.inputs[0], shifted(axes_)));
  }

 private:
  // A result-shaped array along the axes that were reduced.
  Array spread(const Array& y, const Shape& shape) const {
    return broadcast_in_dim(y, shape,
                            remaining_axes(static_cast<std::int64_t>(shape.size()), axes_));
  }

  // 1 / (number of elements that equal the extreme) where x does, else 0.
  Array share_of_winners(const Array& x, const Array& y) const {
    const Array wins = astype(equal(x, spread(y, x.shape())), x.dtype());
    return wins / spread(reduced(Reduction::Sum, wins, axes_), x.shape());
  }

  // For each element the product of all others it is multiplied with, without dividing: products of
  // those before it times those after it, in ceil(log2 n) steps of doubling.
  Array product_of_others(const Array& x) const {
    const Axes kept = remaining_axes(x.ndim(), axes_);
    Axes order = kept;
    order.insert(order.end(), axes_.begin(), axes_.end());
    const Shape kept_shape = without_axes(x.shape(), axes_);
    std::int64_t length = 1;
    for (const std::int64_t axis : axes_) length *= at(x.shape(), axis);
    const Array moved = lockstep::transpose(x, order);
    Shape flat = kept_shape;
    flat.push_back(length);
    const Array rows = lockstep::reshape(moved, flat);
    const Array others =
        products_before(rows) * lockstep::flip(products_before(lockstep::flip(rows, -1)), -1);
    Axes inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    }
    return lockstep::transpose(lockstep::reshape(others, moved.shape()), inverse);
  }

  // Along the last axis: products of the elements before each one (1 for the first).
  static Array products_before(const Array& rows) {
    const auto last = static_cast<std::size_t>(rows.ndim() - 1);
    const std::int64_t length = rows.shape()[last];
    const auto shifted = [&](const Array& a, std::int64_t by) {
      std::vector<PaddingDimension> padding(last + 1);
      padding[last] = {.low = by, .high = -by};
      return lockstep::pad(a, padding, ones({}, a.dtype()));
    };
    if (length == 0) return rows;
    Array product = shifted(rows, 1);
    for (std::int64_t step = 1; step < length; step *= 2)
      product = product * shifted(product, step);
    return product;
  }

  Reduction kind_;
  Axes axes_;
};

std::vector<PrimitiveSample> reduce_samples(Reduction kind, std::uint64_t seed) {
  Sampler sampler(seed);
  std::vector<PrimitiveSample> samples;
  const auto add = [&](Axes axes, AbstractValue value) {
    samples.push_back(
        {.primitive = primitives::reduce(kind, std::move(axes)), .inputs = {std::move(value)}});
  };
  const bool numbers = accepts(row_of(kind).accepted, DType::Float64);
  const DType dtype = numbers ? DType::Float64 : DType::Bool;
  add({0}, of_type(dtype, sampler.shape(1, 2, 5)));
  add({0, 2}, of_type(dtype, sampler.shape(3)));
  add({1}, of_type(dtype, sampler.shape(3)));
  add({}, of_type(dtype, {2}));
  add({1}, of_type(dtype, {0, 2}));
  if (kind != Reduction::Max && kind != Reduction::Min) add({0}, of_type(dtype, {0, 2}));
  add({0, 1}, of_type(DType::Int32, sampler.shape(2)));
  add({0}, of_type(DType::UInt8, {3}));
  if (numbers) add({1}, of_type(DType::BFloat16, sampler.shape(2)));
  return samples;
}

}  // namespace

namespace primitives {
PrimitivePtr reduce(Reduction kind, Axes axes) {
  return std::make_shared<Reduce>(kind, std::move(axes));
}
}  // namespace primitives

void add_reduce_kinds(std::vector<PrimitiveKind>& kinds) {
  for (const Reduction kind : {Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min,
                               Reduction::And, Reduction::Or}) {
    const bool zero = kind == Reduction::And || kind == Reduction::Or;
    kinds.push_back(
        {.name = std::string(row_of(kind).name),
         .differentiability = zero ? Differentiability::Zero : Differentiability::Smooth,
         .samples = [kind](std::uint64_t seed) { return reduce_samples(kind, seed); }});
  }
}

}  // namespace lockstep
