// broadcast_in_dim.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

class BroadcastInDim final : public LinearPrimitive {
 public:
  BroadcastInDim(Shape shape, primitives::Axes dimensions)
      : shape_(std::move(shape)), dimensions_(std::move(dimensions)) {}
  std::string_view name() const override { return "broadcast_in_dim"; }
  std::string attributes() const override {
    return fmt::format("shape = {}, dimensions = [{}]", to_string(shape_), join(dimensions_));
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    const AbstractValue result{shape_, inputs[0].dtype, inputs[0].weak_type};
    if (dimensions_.size() != inputs[0].shape.size()) {
      throw_value_error(name(), fmt::format("dimensions [{}] must name a result axis for each axis "
                                            "of {}",
                                            join(dimensions_), to_string(inputs[0])));
    }
    check_axes(name(), "dimensions", dimensions_, result);
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      const std::int64_t length = inputs[0].shape[i];
      if (length == 1 || length == at(shape_, dimensions_[i])) continue;
      throw_value_error(name(), fmt::format("{} does not broadcast to {}: axis {} has length {}, "
                                            "its place in the result {}; it must be 1 or equal",
                                            to_string(inputs[0]), to_string(shape_), i, length,
                                            at(shape_, dimensions_[i])));
    }
    return {result};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.broadcast_in_dim", inputs, input_values, output_values,
                        "broadcast_dimensions = " + dense_i64(dimensions_));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return one(lockstep::broadcast_in_dim(request.inputs[0], prepended(request.size, shape_),
                                          with_batch_axis(dimensions_)));
  }

 protected:
  // Sums over the axes along which the operand was repeated.
  Array transposed(const Array& cotangent, const Array& x) const override {
    std::vector<std::int64_t> repeated;
    std::vector<std::int64_t> order;  // result axes that remain, in the order of the operand's
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape_.size()); ++axis) {
      if (!contains(dimensions_, axis)) repeated.push_back(axis);
    }
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      if (x.shape()[i] != at(shape_, dimensions_[i])) {
        repeated.push_back(dimensions_[i]);
      } else {
        order.push_back(dimensions_[i]);
      }
    }
    Array result = cotangent;
    if (!repeated.empty()) {
      std::sort(repeated.begin(), repeated.end());
      result = apply_one(primitives::reduce(primitives::Reduction::Sum, repeated),
                         std::vector<Array>{result});
    }
    std::vector<std::int64_t> permutation;
    for (const std::int64_t axis : order) {
      permutation.push_back(std::count_if(order.begin(), order.end(),
                                          [&](std::int64_t other) { return other < axis; }));
    }
    return lockstep::reshape(lockstep::transpose(result, permutation), x.shape());
  }

 private:
  Shape shape_;
  primitives::Axes dimensions_;
};

}  // namespace

namespace primitives {
PrimitivePtr broadcast_in_dim(Shape shape, Axes dimensions) {
  return std::make_shared<BroadcastInDim>(std::move(shape), std::move(dimensions));
}
}  // namespace primitives

void add_broadcast_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "broadcast_in_dim", .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     const auto add = [&](AbstractValue value, Shape shape, primitives::Axes dims) {
                       samples.push_back({.primitive = primitives::broadcast_in_dim(
                                              std::move(shape), std::move(dims)),
                                          .inputs = {std::move(value)}});
                     };
                     const Shape s = sampler.shape(3, 2, 4);
                     add(f64({}), s, {});
                     add(f64({s[1], 1}), s, {1, 2});
                     add(f64({s[2], s[0]}), s, {2, 0});
                     add(f64({1, 1}), {1, 3}, {0, 1});
                     add(f64({3}), {0, 3}, {1});
                     add(of_type(DType::Bool, {2}), {2, 2}, {0});
                     add(of_type(DType::BFloat16, {}), {4}, {});
                     return samples;
                   }});
}

}  // namespace lockstep
