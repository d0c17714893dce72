// Elementwise primitives of one operand. A row has one local derivative, from which both modes
// follow.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/operators.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

struct UnaryRow {
  std::string_view name;
  std::string_view op;
  Accepts accepted = Accepts::Inexact;
  // The tangent t times the derivative at x, where the result is y. Null: the derivative is 0.
  Array (*push)(const Array& t, const Array& x, const Array& y) = nullptr;
  // Where random operands are drawn from in tests.
  double low = -1.0;
  double high = 1.0;
  bool gives_bool = false;
};

using A = const Array&;

const std::array unary_rows = {
    UnaryRow{"neg", "stablehlo.negate", Accepts::Number, [](A t, A, A) { return -t; }},
    UnaryRow{"abs", "stablehlo.abs", Accepts::SignedNumber,
             [](A t, A x, A) { return select(x >= 0, t, -t); }, 0.1, 2.0},
    UnaryRow{"sign", "stablehlo.sign", Accepts::SignedNumber},
    UnaryRow{"exp", "stablehlo.exponential", Accepts::Inexact, [](A t, A, A y) { return t * y; }},
    UnaryRow{"expm1", "stablehlo.exponential_minus_one", Accepts::Inexact,
             [](A t, A, A y) { return t * (y + 1); }},
    UnaryRow{"log", "stablehlo.log", Accepts::Inexact, [](A t, A x, A) { return t / x; }, 0.2, 3.0},
    UnaryRow{"log1p", "stablehlo.log_plus_one", Accepts::Inexact,
             [](A t, A x, A) { return t / (x + 1); }, -0.7, 2.0},
    UnaryRow{"sqrt", "stablehlo.sqrt", Accepts::Inexact, [](A t, A, A y) { return t * (0.5 / y); },
             0.2, 3.0},
    UnaryRow{"rsqrt", "stablehlo.rsqrt", Accepts::Inexact,
             [](A t, A x, A y) { return t * (-0.5 * (y / x)); }, 0.2, 3.0},
    UnaryRow{"cbrt", "stablehlo.cbrt", Accepts::Floating,
             [](A t, A, A y) { return t * (1.0 / 3.0) / square(y); }, 0.2, 3.0},
    UnaryRow{"tanh", "stablehlo.tanh", Accepts::Inexact,
             [](A t, A, A y) { return (t + t * y) * (1 - y); }},
    UnaryRow{"logistic", "stablehlo.logistic", Accepts::Inexact,
             [](A t, A, A y) { return t * y * (1 - y); }},
    UnaryRow{"sin", "stablehlo.sine", Accepts::Inexact, [](A t, A x, A) { return t * cos(x); }},
    UnaryRow{"cos", "stablehlo.cosine", Accepts::Inexact,
             [](A t, A x, A) { return -(t * sin(x)); }},
    UnaryRow{"tan", "stablehlo.tan", Accepts::Inexact,
             [](A t, A, A y) { return t * (1 + square(y)); }},
    UnaryRow{"asin", "chlo.asin", Accepts::Inexact,
             [](A t, A x, A) { return t * rsqrt(1 - square(x)); }, -0.8, 0.8},
    UnaryRow{"acos", "chlo.acos", Accepts::Inexact,
             [](A t, A x, A) { return -(t * rsqrt(1 - square(x))); }, -0.8, 0.8},
    UnaryRow{"atan", "chlo.atan", Accepts::Inexact,
             [](A t, A x, A) { return t / (1 + square(x)); }},
    UnaryRow{"sinh", "chlo.sinh", Accepts::Inexact, [](A t, A x, A) { return t * cosh(x); }},
    UnaryRow{"cosh", "chlo.cosh", Accepts::Inexact, [](A t, A x, A) { return t * sinh(x); }},
    UnaryRow{"asinh", "chlo.asinh", Accepts::Inexact,
             [](A t, A x, A) { return t * rsqrt(square(x) + 1); }},
    UnaryRow{"acosh", "chlo.acosh", Accepts::Inexact,
             [](A t, A x, A) { return t * rsqrt((x - 1) * (x + 1)); }, 1.3, 3.0},
    UnaryRow{"atanh", "chlo.atanh", Accepts::Inexact,
             [](A t, A x, A) { return t / ((1 + x) * (1 - x)); }, -0.8, 0.8},
    UnaryRow{"erf", "chlo.erf", Accepts::Floating,
             [](A t, A x, A) { return (2.0 * std::numbers::inv_sqrtpi) * (t * exp(-square(x))); }},
    UnaryRow{"erf_inv", "chlo.erf_inv", Accepts::Floating,
             [](A t, A, A y) { return (0.5 / std::numbers::inv_sqrtpi) * (t * exp(square(y))); },
             -0.8, 0.8},
    UnaryRow{"floor", "stablehlo.floor", Accepts::Floating},
    UnaryRow{"ceil", "stablehlo.ceil", Accepts::Floating},
    UnaryRow{"round", "stablehlo.round_nearest_even", Accepts::Floating},
    UnaryRow{"is_finite", "stablehlo.is_finite", Accepts::Floating, nullptr, -1.0, 1.0, true},
    UnaryRow{"not", "stablehlo.not", Accepts::IntegerOrBool},
    UnaryRow{"population_count", "stablehlo.popcnt", Accepts::Integer},
    UnaryRow{"stop_gradient", "", Accepts::Anything},
};

class Unary final : public Primitive {
 public:
  explicit Unary(const UnaryRow& row) : row_(row) {}
  std::string_view name() const override { return row_.name; }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    check_accepts(name(), row_.accepted, inputs[0]);
    AbstractValue output = inputs[0];
    if (row_.gives_bool) output = {.shape = output.shape, .dtype = DType::Bool};
    if (row_.name == "abs" && is_complex(output.dtype)) {
      output.dtype = output.dtype == DType::Complex64 ? DType::Float32 : DType::Float64;
    }
    return {output};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    if (row_.op.empty()) return {inputs[0]};
    return builder.emit(row_.op, inputs, input_values, output_values);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    return one(pushed(request.cotangents[0], request.inputs[0], request.outputs[0]));
  }
  std::vector<Array> jvp(const JvpRequest& request) const override {
    return one(pushed(request.tangents[0], request.inputs[0], request.outputs[0]));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return batch_elementwise(primitives::unary(row_.name), request);
  }

 private:
  Array pushed(const Array& tangent, const Array& x, const Array& y) const {
    if (tangent.is_null() || row_.push == nullptr) return {};
    if (row_.name == "abs" && is_complex(x.dtype())) {
      throw_value_error(name(), fmt::format("the modulus of complex numbers has no derivative "
                                            "here; got {}. Write it with real and imaginary parts",
                                            to_string(x.abstract_value())));
    }
    return row_.push(tangent, x, y);
  }

  const UnaryRow& row_;
};

class IntegerPow final : public Primitive {
 public:
  explicit IntegerPow(std::int64_t exponent) : exponent_(exponent) {}
  std::string_view name() const override { return "integer_pow"; }
  std::string attributes() const override { return fmt::format("exponent = {}", exponent_); }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    check_accepts(name(), Accepts::Number, inputs[0]);
    if (exponent_ < 0 && is_integer(inputs[0].dtype)) {
      throw_value_error(name(), fmt::format("{} to the power {}: integers have no negative powers; "
                                            "convert with astype(x, float32) first",
                                            to_string(inputs[0]), exponent_));
    }
    return {inputs[0]};
  }

  // By repeated squaring, as few multiplications as the exponent's bits.
  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    const AbstractValue& value = output_values[0];
    const std::vector<AbstractValue> two(2, value);
    const auto combine = [&](std::string_view op, const std::string& a, const std::string& b) {
      return builder.emit_one(op, std::vector<std::string>{a, b}, two, value);
    };
    if (exponent_ == 0) return {builder.constant(value, 1.0)};
    auto bits = static_cast<std::uint64_t>(exponent_ < 0 ? -exponent_ : exponent_);
    std::string square = inputs[0];
    std::string product;
    for (; bits != 0; bits >>= 1) {
      if ((bits & 1) != 0) {
        product = product.empty() ? square : combine("stablehlo.multiply", product, square);
      }
      if (bits > 1) square = combine("stablehlo.multiply", square, square);
    }
    if (exponent_ < 0) product = combine("stablehlo.divide", builder.constant(value, 1.0), product);
    (void)input_values;
    return {product};
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    return one(pushed(request.cotangents[0], request.inputs[0]));
  }
  std::vector<Array> jvp(const JvpRequest& request) const override {
    return one(pushed(request.tangents[0], request.inputs[0]));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return batch_elementwise(primitives::integer_pow(exponent_), request);
  }

 private:
  Array pushed(const Array& tangent, const Array& x) const {
    if (tangent.is_null() || exponent_ == 0) return {};
    if (exponent_ == 1) return tangent;
    if (exponent_ == 2) return tangent * (2 * x);
    return tangent * (exponent_ * lockstep::integer_pow(x, exponent_ - 1));
  }

  std::int64_t exponent_;
};

std::vector<PrimitiveSample> unary_samples(const UnaryRow& row, std::uint64_t seed) {
  Sampler sampler(seed);
  std::vector<PrimitiveSample> samples;
  const auto add = [&](AbstractValue value) {
    samples.push_back({.primitive = primitives::unary(row.name),
                       .inputs = {std::move(value)},
                       .low = row.low,
                       .high = row.high});
  };
  if (accepts(row.accepted, DType::Float64)) {
    add(f64({}));
    add(f64(sampler.shape(2)));
    add(f64({0, 3}));
    add(of_type(DType::Float32, sampler.shape(3)));
    add(of_type(DType::BFloat16, sampler.shape(1)));
  }
  if (accepts(row.accepted, DType::Int32)) {
    add(of_type(DType::Int32, sampler.shape(2)));
    add(of_type(DType::Int8, {}));
    add(of_type(DType::Int64, {2, 0}));
  }
  if (accepts(row.accepted, DType::Bool)) add(of_type(DType::Bool, {3}));
  return samples;
}

}  // namespace

namespace primitives {

PrimitivePtr unary(std::string_view name) {
  static const std::vector<PrimitivePtr> made = [] {
    std::vector<PrimitivePtr> all;
    for (const UnaryRow& row : unary_rows) all.push_back(std::make_shared<Unary>(row));
    return all;
  }();
  const auto found =
      std::find_if(made.begin(), made.end(), [&](const auto& p) { return p->name() == name; });
  if (found == made.end()) throw_value_error("unary", fmt::format("no primitive '{}'", name));
  return *found;
}

PrimitivePtr integer_pow(std::int64_t exponent) {
  return std::make_shared<IntegerPow>(exponent);
}

}  // namespace primitives

void add_unary_kinds(std::vector<PrimitiveKind>& kinds) {
  for (const UnaryRow& row : unary_rows) {
    kinds.push_back({.name = std::string(row.name),
                     .differentiability =
                         row.push == nullptr ? Differentiability::Zero : Differentiability::Smooth,
                     .refusal = {},
                     .samples = [&row](std::uint64_t seed) { return unary_samples(row, seed); }});
  }
  kinds.push_back({.name = "integer_pow", .refusal = {}, .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     for (const std::int64_t exponent : {-3, -1, 0, 1, 2, 3, 7}) {
                       samples.push_back({.primitive = primitives::integer_pow(exponent),
                                          .inputs = {f64(sampler.shape(2))},
                                          .low = 0.4,
                                          .high = 1.6});
                     }
                     samples.push_back({.primitive = primitives::integer_pow(5),
                                        .inputs = {of_type(DType::Int32, {3})}});
                     return samples;
                   }});
}

}  // namespace lockstep
