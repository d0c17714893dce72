// compare and select.
#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

class Compare final : public Primitive {
 public:
  explicit Compare(std::string_view direction) : direction_(direction) {}
  std::string_view name() const override { return "compare"; }
  std::string attributes() const override { return fmt::format("direction = {}", direction_); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 2);
    check_same_dtype(name(), inputs);
    if (inputs[0].shape != inputs[1].shape) {
      throw_value_error(name(), fmt::format("operands have different shapes: {}; broadcast one "
                                            "with broadcast_to",
                                            describe(inputs)));
    }
    if (is_complex(inputs[0].dtype) && direction_ != "EQ" && direction_ != "NE") {
      throw_value_error(name(), fmt::format("complex numbers have no order: {}; compare real parts "
                                            "or use equal",
                                            describe(inputs)));
    }
    return {{.shape = inputs[0].shape, .dtype = DType::Bool}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit(
        "stablehlo.compare", inputs, input_values, output_values,
        fmt::format("comparison_direction = #stablehlo<comparison_direction {}>", direction_));
  }

  std::vector<Array> vjp(const VjpRequest&) const override { return std::vector<Array>(2); }
  std::vector<Array> jvp(const JvpRequest&) const override { return one({}); }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return batch_elementwise(primitives::compare(direction_), request);
  }

 private:
  std::string direction_;
};

class Select final : public Primitive {
 public:
  std::string_view name() const override { return "select"; }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 3);
    if (inputs[0].dtype != DType::Bool) {
      throw_value_error(name(), fmt::format("the predicate is {}, not bool; compare it with "
                                            "something (x != 0)",
                                            to_string(inputs[0])));
    }
    check_same_dtype(name(), inputs.subspan(1));
    if (inputs[1].shape != inputs[2].shape ||
        (!inputs[0].shape.empty() && inputs[0].shape != inputs[1].shape)) {
      throw_value_error(name(), fmt::format("shapes differ: predicate {}, branches {}; where() "
                                            "broadcasts them",
                                            to_string(inputs[0]), describe(inputs.subspan(1))));
    }
    return {{inputs[1].shape, inputs[1].dtype, all_weak(inputs.subspan(1))}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.select", inputs, input_values, output_values);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    const Array& g = request.cotangents[0];
    std::vector<Array> result(3);
    if (g.is_null()) return result;
    const Array& predicate = request.inputs[0];
    if (request.needed[1]) result[1] = lockstep::select(predicate, g, zeros_like(g));
    if (request.needed[2]) result[2] = lockstep::select(predicate, zeros_like(g), g);
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    const Array& on_true = request.tangents[1];
    const Array& on_false = request.tangents[2];
    if (on_true.is_null() && on_false.is_null()) return one({});
    return one(lockstep::select(request.inputs[0],
                                on_true.is_null() ? zeros_like(on_false) : on_true,
                                on_false.is_null() ? zeros_like(on_true) : on_false));
  }

  // A scalar predicate for a whole array stays one where all examples share it.
  std::vector<Array> batch(const BatchRequest& request) const override {
    const Array on_true = batched_operand(request, 1);
    const Array on_false = batched_operand(request, 2);
    Array predicate = request.inputs[0];
    if (!request.batched[0]) {
      if (predicate.ndim() > 0) predicate = batched_operand(request, 0);
    } else if (predicate.ndim() < on_true.ndim()) {
      predicate = broadcast_in_dim(predicate, on_true.shape(), std::vector<std::int64_t>{0});
    }
    return one(lockstep::select(predicate, on_true, on_false));
  }
};

}  // namespace

namespace primitives {
PrimitivePtr compare(std::string_view direction) {
  return std::make_shared<Compare>(direction);
}
PrimitivePtr select() {
  static const PrimitivePtr made = std::make_shared<Select>();
  return made;
}
}  // namespace primitives

void add_compare_select_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "compare",
                   .differentiability = Differentiability::Zero,
                   .refusal = {},
                   .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
                       for (const DType dtype : {DType::Float64, DType::Int8, DType::UInt64,
                                                 DType::Bool, DType::BFloat16}) {
                         const AbstractValue value = of_type(dtype, sampler.shape(2, 0, 3));
                         samples.push_back({.primitive = primitives::compare(direction),
                                            .inputs = {value, value}});
                       }
                     }
                     return samples;
                   }});
  kinds.push_back({.name = "select", .refusal = {}, .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     const auto add = [&](Shape predicate, const AbstractValue& branch) {
                       samples.push_back({.primitive = primitives::select(),
                                          .inputs = {of_type(DType::Bool, std::move(predicate)),
                                                     branch, branch}});
                     };
                     const Shape shape = sampler.shape(2);
                     add(shape, f64(shape));
                     add({}, f64(shape));
                     add({}, f64({}));
                     add({0, 2}, f64({0, 2}));
                     add(shape, of_type(DType::Int32, shape));
                     return samples;
                   }});
}

}  // namespace lockstep
