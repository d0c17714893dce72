// reshape, transpose and reverse: the same elements in other places.
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

class Reshape final : public LinearPrimitive {
 public:
  explicit Reshape(Shape shape) : shape_(std::move(shape)) {}
  std::string_view name() const override { return "reshape"; }
  std::string attributes() const override { return fmt::format("shape = {}", to_string(shape_)); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    const std::int64_t from = num_elements(inputs[0].shape);
    const std::int64_t to = num_elements(shape_);
    if (from != to) {
      throw_value_error(name(),
                        fmt::format("{} has {} elements, shape {} has {}; one length may be "
                                    "-1 and is then computed",
                                    to_string(inputs[0]), from, to_string(shape_), to));
    }
    return {{shape_, inputs[0].dtype, inputs[0].weak_type}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.reshape", inputs, input_values, output_values);
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return one(lockstep::reshape(request.inputs[0], prepended(request.size, shape_)));
  }

 protected:
  Array transposed(const Array& cotangent, const Array& x) const override {
    return lockstep::reshape(cotangent, x.shape());
  }

 private:
  Shape shape_;
};

class Transpose final : public LinearPrimitive {
 public:
  explicit Transpose(primitives::Axes permutation) : permutation_(std::move(permutation)) {}
  std::string_view name() const override { return "transpose"; }
  std::string attributes() const override {
    return fmt::format("permutation = [{}]", join(permutation_));
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    check_axes(name(), "permutation", permutation_, inputs[0]);
    if (permutation_.size() != inputs[0].shape.size()) {
      throw_value_error(name(), fmt::format("permutation [{}] must name every axis of {} once",
                                            join(permutation_), to_string(inputs[0])));
    }
    AbstractValue result = inputs[0];
    for (std::size_t i = 0; i < permutation_.size(); ++i) {
      result.shape[i] = at(inputs[0].shape, permutation_[i]);
    }
    return {result};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.transpose", inputs, input_values, output_values,
                        "permutation = " + dense_i64(permutation_));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return one(lockstep::transpose(request.inputs[0], with_batch_axis(permutation_)));
  }

 protected:
  Array transposed(const Array& cotangent, const Array&) const override {
    std::vector<std::int64_t> inverse(permutation_.size());
    for (std::size_t i = 0; i < permutation_.size(); ++i) {
      inverse[static_cast<std::size_t>(permutation_[i])] = static_cast<std::int64_t>(i);
    }
    return lockstep::transpose(cotangent, inverse);
  }

 private:
  primitives::Axes permutation_;
};

class Reverse final : public LinearPrimitive {
 public:
  explicit Reverse(primitives::Axes axes) : axes_(std::move(axes)) {}
  std::string_view name() const override { return "reverse"; }
  std::string attributes() const override { return fmt::format("axes = [{}]", join(axes_)); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    check_axes(name(), "axes", axes_, inputs[0]);
    return {inputs[0]};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.reverse", inputs, input_values, output_values,
                        "dimensions = " + dense_i64(axes_));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return one(lockstep::flip(request.inputs[0], shifted(axes_)));
  }

 protected:
  Array transposed(const Array& cotangent, const Array&) const override {
    return lockstep::flip(cotangent, axes_);
  }

 private:
  primitives::Axes axes_;
};

}  // namespace

namespace primitives {
PrimitivePtr reshape(Shape shape) {
  return std::make_shared<Reshape>(std::move(shape));
}
PrimitivePtr transpose(Axes permutation) {
  return std::make_shared<Transpose>(std::move(permutation));
}
PrimitivePtr reverse(Axes axes) {
  return std::make_shared<Reverse>(std::move(axes));
}
}  // namespace primitives

void add_rearrange_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back(
      {.name = "reshape", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         const Shape s = sampler.shape(2);
         return std::vector<PrimitiveSample>{
             {.primitive = primitives::reshape({s[0] * s[1]}), .inputs = {f64(s)}},
             {.primitive = primitives::reshape({s[1], 1, s[0]}), .inputs = {f64(s)}},
             {.primitive = primitives::reshape({}), .inputs = {f64({1, 1})}},
             {.primitive = primitives::reshape({5, 0}), .inputs = {f64({0, 2})}},
             {.primitive = primitives::reshape({4}), .inputs = {of_type(DType::Int8, {2, 2})}},
         };
       }});
  kinds.push_back(
      {.name = "transpose", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         return std::vector<PrimitiveSample>{
             {.primitive = primitives::transpose({1, 0}), .inputs = {f64(sampler.shape(2))}},
             {.primitive = primitives::transpose({2, 0, 1}), .inputs = {f64(sampler.shape(3))}},
             {.primitive = primitives::transpose({}), .inputs = {f64({})}},
             {.primitive = primitives::transpose({1, 2, 0}),
              .inputs = {of_type(DType::Bool, {0, 2, 1})}},
         };
       }});
  kinds.push_back(
      {.name = "reverse", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         return std::vector<PrimitiveSample>{
             {.primitive = primitives::reverse({0}), .inputs = {f64(sampler.shape(1))}},
             {.primitive = primitives::reverse({0, 2}), .inputs = {f64(sampler.shape(3))}},
             {.primitive = primitives::reverse({}), .inputs = {f64({2})}},
             {.primitive = primitives::reverse({1}), .inputs = {of_type(DType::UInt16, {2, 3})}},
         };
       }});
}

}  // namespace lockstep
