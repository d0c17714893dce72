// constant and iota.
#include <fmt/format.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "trace/constant_text.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

class Constant final : public Primitive {
 public:
  Constant(AbstractValue value, primitives::Literal literal)
      : value_(std::move(value)), literal_(literal) {}
  std::string_view name() const override { return "constant"; }
  std::string attributes() const override {
    return fmt::format("value = {}, type = {}", element(), to_string(value_));
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 0);
    return {value_};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string>,
                                 std::span<const AbstractValue>,
                                 std::span<const AbstractValue>) const override {
    return {builder.emit_one("stablehlo.constant", {}, {}, value_,
                             fmt::format("value = dense<{}> : {}", element(), mlir_type(value_)))};
  }

  std::vector<Array> vjp(const VjpRequest&) const override { return {}; }
  std::vector<Array> jvp(const JvpRequest&) const override { return one({}); }

 private:
  // Integers beyond 2^53 are exact only as integers.
  std::string element() const {
    if (const auto* integer = std::get_if<std::int64_t>(&literal_)) {
      if (value_.dtype == DType::UInt64) {
        return fmt::format("{}", static_cast<std::uint64_t>(*integer));
      }
      if (is_integer(value_.dtype)) return fmt::format("{}", *integer);
      return element_text(value_.dtype, static_cast<double>(*integer));
    }
    return element_text(value_.dtype, std::get<double>(literal_));
  }

  AbstractValue value_;
  primitives::Literal literal_;
};

class Iota final : public Primitive {
 public:
  Iota(DType dtype, Shape shape, std::int64_t dimension)
      : dtype_(dtype), shape_(std::move(shape)), dimension_(dimension) {}
  std::string_view name() const override { return "iota"; }
  std::string attributes() const override {
    return fmt::format("dtype = {}, shape = {}, dimension = {}", to_string(dtype_),
                       to_string(shape_), dimension_);
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 0);
    const AbstractValue value{.shape = shape_, .dtype = dtype_};
    check_accepts(name(), Accepts::Number, value);
    check_axes(name(), "dimension", std::span(&dimension_, 1), value);
    return {value};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string>,
                                 std::span<const AbstractValue>,
                                 std::span<const AbstractValue> output_values) const override {
    return {builder.emit_one("stablehlo.iota", {}, {}, output_values[0],
                             fmt::format("iota_dimension = {} : i64", dimension_))};
  }

  std::vector<Array> vjp(const VjpRequest&) const override { return {}; }
  std::vector<Array> jvp(const JvpRequest&) const override { return one({}); }

 private:
  DType dtype_;
  Shape shape_;
  std::int64_t dimension_;
};

}  // namespace

namespace primitives {
PrimitivePtr constant(AbstractValue value, Literal literal) {
  return std::make_shared<Constant>(std::move(value), literal);
}
PrimitivePtr iota(DType dtype, Shape shape, std::int64_t dimension) {
  return std::make_shared<Iota>(dtype, std::move(shape), dimension);
}
}  // namespace primitives

void add_constant_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "constant",
                   .differentiability = Differentiability::Zero,
                   .refusal = {},
                   .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     const auto add = [&](DType dtype, Shape shape, primitives::Literal literal) {
                       samples.push_back({.primitive = primitives::constant(
                                              of_type(dtype, std::move(shape)), literal),
                                          .inputs = {}});
                     };
                     add(DType::Float32, sampler.shape(2), 0.1);
                     add(DType::Float64, {}, -INFINITY);
                     add(DType::BFloat16, {2, 0}, 1.5);
                     add(DType::Float16, {3}, static_cast<double>(NAN));
                     add(DType::UInt64, {2}, std::int64_t{-1});
                     add(DType::Int8, {}, std::int64_t{-128});
                     add(DType::Bool, {2}, std::int64_t{1});
                     add(DType::Complex64, {2}, 2.5);
                     return samples;
                   }});
  kinds.push_back(
      {.name = "iota",
       .differentiability = Differentiability::Zero,
       .refusal = {},
       .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         std::vector<PrimitiveSample> samples;
         for (const DType dtype : {DType::Int32, DType::UInt8, DType::Float64, DType::BFloat16}) {
           samples.push_back(
               {.primitive = primitives::iota(dtype, sampler.shape(2, 1, 5), sampler.integer(0, 1)),
                .inputs = {}});
         }
         samples.push_back({.primitive = primitives::iota(DType::Int64, {0}, 0), .inputs = {}});
         return samples;
       }});
}

}  // namespace lockstep
