// argmax and argmin.
#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

class ArgExtreme final : public Primitive {
 public:
  ArgExtreme(bool largest, std::int64_t axis, DType index_dtype)
      : largest_(largest), axis_(axis), index_dtype_(index_dtype) {}
  std::string_view name() const override { return largest_ ? "argmax" : "argmin"; }
  std::string attributes() const override {
    return fmt::format("axis = {}, index_dtype = {}", axis_, to_string(index_dtype_));
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    check_axes(name(), "axis", std::span(&axis_, 1), inputs[0]);
    if (is_complex(inputs[0].dtype)) {
      throw_value_error(name(), fmt::format("complex numbers have no order; got {}. Compare abs(x)",
                                            to_string(inputs[0])));
    }
    if (at(inputs[0].shape, axis_) == 0) {
      throw_value_error(name(),
                        fmt::format("axis {} of {} has length 0, and nothing has no extreme "
                                    "element; check the shape that comes in",
                                    axis_, to_string(inputs[0])));
    }
    return {{.shape = without_axes(inputs[0].shape, std::span(&axis_, 1)), .dtype = index_dtype_}};
  }

  // The least index at which the element equals the extreme or is NaN: on CPUs twice as fast as one
  // reduction of (value, index) pairs.
  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    const AbstractValue& x = input_values[0];
    const DType dtype = x.dtype;
    const std::string dims = "dimensions = " + dense_i64(std::span(&axis_, 1));
    const auto reduce = [&](std::string_view op, const std::string& operand,
                            const AbstractValue& type, const std::string& initial) {
      const std::string start = scalar_constant(builder, type.dtype, initial);
      AbstractValue result = output_values[0];
      result.dtype = type.dtype;
      return builder.emit_one("stablehlo.reduce", std::vector<std::string>{operand, start},
                              std::vector<AbstractValue>{type, {.shape = {}, .dtype = type.dtype}},
                              result, dims,
                              std::vector<std::string>{binary_region(builder, op, type.dtype)});
    };
    const AbstractValue mask{.shape = x.shape, .dtype = DType::Bool};
    const auto compare = [&](const char* direction, const std::string& a, const std::string& b) {
      return builder.emit_one(
          "stablehlo.compare", std::vector<std::string>{a, b}, std::vector<AbstractValue>{x, x},
          mask,
          fmt::format("comparison_direction = #stablehlo<comparison_direction {}>", direction));
    };

    const std::string extreme =
        reduce(largest_ ? "stablehlo.maximum" : "stablehlo.minimum", inputs[0], x,
               largest_ ? lowest_text(dtype) : highest_text(dtype));
    AbstractValue extreme_type = output_values[0];
    extreme_type.dtype = dtype;
    const auto kept =
        remaining_axes(static_cast<std::int64_t>(x.shape.size()), std::span(&axis_, 1));
    const std::string spread = builder.emit_one(
        "stablehlo.broadcast_in_dim", std::vector<std::string>{extreme},
        std::vector<AbstractValue>{extreme_type}, x, "broadcast_dimensions = " + dense_i64(kept));
    std::string hit = compare("EQ", inputs[0], spread);
    if (is_floating(dtype)) {
      const std::string is_nan = compare("NE", inputs[0], inputs[0]);
      hit = builder.emit_one("stablehlo.or", std::vector<std::string>{hit, is_nan},
                             std::vector<AbstractValue>{mask, mask}, mask);
    }
    const AbstractValue index{.shape = x.shape, .dtype = index_dtype_};
    const std::string iota = builder.emit_one("stablehlo.iota", {}, {}, index,
                                              fmt::format("iota_dimension = {} : i64", axis_));
    const std::string none = builder.constant(index, static_cast<double>(at(x.shape, axis_) - 1));
    const std::string candidates =
        builder.emit_one("stablehlo.select", std::vector<std::string>{hit, iota, none},
                         std::vector<AbstractValue>{mask, index, index}, index);
    return {reduce("stablehlo.minimum", candidates, index, highest_text(index_dtype_))};
  }

  std::vector<Array> vjp(const VjpRequest&) const override { return one({}); }
  std::vector<Array> jvp(const JvpRequest&) const override { return one({}); }

  std::vector<Array> batch(const BatchRequest& request) const override {
    const auto make = largest_ ? primitives::argmax : primitives::argmin;
    return lockstep::apply(make(axis_ + 1, index_dtype_), request.inputs);
  }

 private:
  bool largest_;
  std::int64_t axis_;
  DType index_dtype_;
};

}  // namespace

namespace primitives {
PrimitivePtr argmax(std::int64_t axis, DType index_dtype) {
  return std::make_shared<ArgExtreme>(true, axis, index_dtype);
}
PrimitivePtr argmin(std::int64_t axis, DType index_dtype) {
  return std::make_shared<ArgExtreme>(false, axis, index_dtype);
}
}  // namespace primitives

void add_argmax_kinds(std::vector<PrimitiveKind>& kinds) {
  for (const bool largest : {true, false}) {
    kinds.push_back(
        {.name = largest ? "argmax" : "argmin",
         .differentiability = Differentiability::Zero,
         .samples = [largest](std::uint64_t seed) {
           Sampler sampler(seed);
           const auto make = largest ? primitives::argmax : primitives::argmin;
           return std::vector<PrimitiveSample>{
               {.primitive = make(0, DType::Int32), .inputs = {f64(sampler.shape(1))}},
               {.primitive = make(1, DType::Int64), .inputs = {f64(sampler.shape(3))}},
               {.primitive = make(1, DType::Int32), .inputs = {f64({0, 2})}},
               {.primitive = make(0, DType::Int32),
                .inputs = {of_type(DType::UInt8, sampler.shape(2))}},
               {.primitive = make(0, DType::Int32), .inputs = {of_type(DType::Bool, {5})}},
               {.primitive = make(1, DType::Int32), .inputs = {of_type(DType::BFloat16, {2, 7})}},
           };
         }});
  }
}

}  // namespace lockstep
