// convert and bitcast.
#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

bool is_inexact(DType dtype) {
  return is_floating(dtype) || is_complex(dtype);
}

class Convert final : public Primitive {
 public:
  Convert(DType dtype, bool weak_type) : dtype_(dtype), weak_type_(weak_type) {}
  std::string_view name() const override { return "convert"; }
  std::string attributes() const override {
    return fmt::format("dtype = {}, weak_type = {}", to_string(dtype_), weak_type_);
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    if (is_complex(inputs[0].dtype) && !is_complex(dtype_)) {
      throw_value_error(name(), fmt::format("{} to {} would drop the imaginary part; take the "
                                            "real part first",
                                            to_string(inputs[0]), to_string(dtype_)));
    }
    return {{inputs[0].shape, dtype_, weak_type_}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    if (input_values[0].dtype == dtype_) return {inputs[0]};
    // StableHLO's conversion to i1 is x != 0, which is what is wanted.
    return builder.emit("stablehlo.convert", inputs, input_values, output_values);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    const Array& g = request.cotangents[0];
    const DType from = request.inputs[0].dtype();
    if (g.is_null() || !is_inexact(from) || !is_inexact(dtype_)) return one({});
    return one(astype(g, from));
  }
  std::vector<Array> jvp(const JvpRequest& request) const override {
    const Array& t = request.tangents[0];
    if (t.is_null() || !is_inexact(request.inputs[0].dtype()) || !is_inexact(dtype_)) {
      return one({});
    }
    return one(astype(t, dtype_));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return batch_elementwise(primitives::convert(dtype_, weak_type_), request);
  }

 private:
  DType dtype_;
  bool weak_type_;
};

class Bitcast final : public Primitive {
 public:
  explicit Bitcast(DType dtype) : dtype_(dtype) {}
  std::string_view name() const override { return "bitcast"; }
  std::string attributes() const override { return fmt::format("dtype = {}", to_string(dtype_)); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    const DType from = inputs[0].dtype;
    const bool has_bool = from == DType::Bool || dtype_ == DType::Bool;
    if (byte_size(from) != byte_size(dtype_) || (has_bool && from != dtype_)) {
      throw_value_error(name(), fmt::format("{} and {} have elements of {} and {} bits; the widths "
                                            "must be equal",
                                            to_string(inputs[0]), to_string(dtype_),
                                            from == DType::Bool ? 1 : 8 * byte_size(from),
                                            dtype_ == DType::Bool ? 1 : 8 * byte_size(dtype_)));
    }
    return {{.shape = inputs[0].shape, .dtype = dtype_}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.bitcast_convert", inputs, input_values, output_values);
  }

  std::vector<Array> vjp(const VjpRequest&) const override { return one({}); }
  std::vector<Array> jvp(const JvpRequest&) const override { return one({}); }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return batch_elementwise(primitives::bitcast(dtype_), request);
  }

 private:
  DType dtype_;
};

}  // namespace

namespace primitives {
PrimitivePtr convert(DType dtype, bool weak_type) {
  return std::make_shared<Convert>(dtype, weak_type);
}
PrimitivePtr bitcast(DType dtype) {
  return std::make_shared<Bitcast>(dtype);
}
}  // namespace primitives

void add_convert_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "convert", .refusal = {}, .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     const auto add = [&](DType from, DType to) {
                       samples.push_back({.primitive = primitives::convert(to),
                                          .inputs = {of_type(from, sampler.shape(2, 0, 3))}});
                     };
                     add(DType::Float64, DType::Float64);
                     add(DType::Float64, DType::Complex128);
                     for (const DType a :
                          {DType::Float64, DType::Float32, DType::BFloat16, DType::Float16,
                           DType::Int32, DType::UInt8, DType::Bool}) {
                       for (const DType b : {DType::Float32, DType::Int64, DType::Bool}) add(a, b);
                     }
                     return samples;
                   }});
  kinds.push_back({.name = "bitcast",
                   .differentiability = Differentiability::Zero,
                   .refusal = {},
                   .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     const auto add = [&](DType from, DType to, Shape shape) {
                       samples.push_back({.primitive = primitives::bitcast(to),
                                          .inputs = {of_type(from, std::move(shape))}});
                     };
                     add(DType::Float32, DType::UInt32, sampler.shape(2));
                     add(DType::UInt32, DType::Float32, sampler.shape(1));
                     add(DType::Float64, DType::Int64, {});
                     add(DType::BFloat16, DType::UInt16, {0});
                     return samples;
                   }});
}

}  // namespace lockstep
