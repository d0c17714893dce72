// Elementwise primitives of two operands of one shape and type. A row has one local derivative for
// each operand, from which both modes follow.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/operators.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

using A = const Array&;
// The tangent t of one operand times the derivative by it, where the result of a and b is y.
using Push = Array (*)(const Array& t, const Array& a, const Array& b, const Array& y);

struct BinaryRow {
  std::string_view name;
  std::string_view op;
  Accepts accepted = Accepts::Anything;
  Push by_lhs = nullptr;
  Push by_rhs = nullptr;
  double low = -1.0;
  double high = 1.0;
};

// 1 where x alone is the extreme y, 1/2 where both are, 0 where the other is.
Array share_of_extreme(A t, A x, A other, A y) {
  const Array share = select(equal(other, y), full_like(y, 0.5), ones_like(y));
  return t * select(equal(x, y), share, zeros_like(y));
}

Array one_where_zero(A x) {
  return select(equal(x, zeros_like(x)), ones_like(x), x);
}

const std::array binary_rows = {
    BinaryRow{"add", "stablehlo.add", Accepts::Anything, [](A t, A, A, A) { return t; },
              [](A t, A, A, A) { return t; }},
    BinaryRow{"sub", "stablehlo.subtract", Accepts::Number, [](A t, A, A, A) { return t; },
              [](A t, A, A, A) { return -t; }},
    BinaryRow{"mul", "stablehlo.multiply", Accepts::Anything, [](A t, A, A b, A) { return t * b; },
              [](A t, A a, A, A) { return t * a; }},
    BinaryRow{"div", "stablehlo.divide", Accepts::Number, [](A t, A, A b, A) { return t / b; },
              [](A t, A, A b, A y) { return -(t * y) / b; }, 0.5, 2.0},
    // Zero to the power 0 keeps JAX's corner: its derivative by the base is 0 * inf.
    BinaryRow{"pow", "stablehlo.power", Accepts::Number,
              [](A t, A a, A b, A) { return t * (b * power(a, b - 1)); },
              [](A t, A a, A, A y) { return t * (log(one_where_zero(a)) * y); }, 0.5, 2.0},
    BinaryRow{"max", "stablehlo.maximum", Accepts::Anything,
              [](A t, A a, A b, A y) { return share_of_extreme(t, a, b, y); },
              [](A t, A a, A b, A y) { return share_of_extreme(t, b, a, y); }},
    BinaryRow{"min", "stablehlo.minimum", Accepts::Anything,
              [](A t, A a, A b, A y) { return share_of_extreme(t, a, b, y); },
              [](A t, A a, A b, A y) { return share_of_extreme(t, b, a, y); }},
    BinaryRow{"rem", "stablehlo.remainder", Accepts::Number, [](A t, A, A, A) { return t; },
              [](A t, A a, A b, A) { return -(t * trunc(a / b)); }, 1.05, 1.95},
    BinaryRow{"atan2", "stablehlo.atan2", Accepts::Floating,
              [](A t, A a, A b, A) { return t * (b / (square(a) + square(b))); },
              [](A t, A a, A b, A) { return t * (-a / (square(a) + square(b))); }, 0.3, 2.0},
    BinaryRow{"and", "stablehlo.and", Accepts::IntegerOrBool},
    BinaryRow{"or", "stablehlo.or", Accepts::IntegerOrBool},
    BinaryRow{"xor", "stablehlo.xor", Accepts::IntegerOrBool},
    BinaryRow{"shift_left", "stablehlo.shift_left", Accepts::Integer},
    BinaryRow{"shift_right_logical", "stablehlo.shift_right_logical", Accepts::Integer},
    BinaryRow{"shift_right_arithmetic", "stablehlo.shift_right_arithmetic", Accepts::Integer},
};

class Binary final : public Primitive {
 public:
  explicit Binary(const BinaryRow& row) : row_(row) {}
  std::string_view name() const override { return row_.name; }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 2);
    check_same_dtype(name(), inputs);
    if (inputs[0].shape != inputs[1].shape) {
      throw_value_error(name(), fmt::format("operands have different shapes: {}; broadcast one "
                                            "with broadcast_to",
                                            describe(inputs)));
    }
    const bool is_bool = inputs[0].dtype == DType::Bool;
    check_accepts(name(), row_.accepted, inputs[0],
                  is_bool ? "use logical_xor for the difference of bools, or astype" : "");
    return {{inputs[0].shape, inputs[0].dtype, all_weak(inputs)}};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit(row_.op, inputs, input_values, output_values);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    const Array& g = request.cotangents[0];
    std::vector<Array> result(2);
    if (g.is_null() || row_.by_lhs == nullptr) return result;
    const auto& [a, b, y] = std::tie(request.inputs[0], request.inputs[1], request.outputs[0]);
    if (request.needed[0]) result[0] = row_.by_lhs(g, a, b, y);
    if (request.needed[1]) result[1] = row_.by_rhs(g, a, b, y);
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    if (row_.by_lhs == nullptr) return one({});
    const auto& [a, b, y] = std::tie(request.inputs[0], request.inputs[1], request.outputs[0]);
    const Array& ta = request.tangents[0];
    const Array& tb = request.tangents[1];
    return one(add_cotangents(ta.is_null() ? Array() : row_.by_lhs(ta, a, b, y),
                              tb.is_null() ? Array() : row_.by_rhs(tb, a, b, y)));
  }

  std::vector<Array> batch(const BatchRequest& request) const override {
    return batch_elementwise(primitives::binary(row_.name), request);
  }

 private:
  const BinaryRow& row_;
};

std::vector<PrimitiveSample> binary_samples(const BinaryRow& row, std::uint64_t seed) {
  Sampler sampler(seed);
  std::vector<PrimitiveSample> samples;
  const auto add = [&](const AbstractValue& value) {
    samples.push_back({.primitive = primitives::binary(row.name),
                       .inputs = {value, value},
                       .low = row.low,
                       .high = row.high});
  };
  if (accepts(row.accepted, DType::Float64)) {
    add(f64({}));
    add(f64(sampler.shape(2)));
    add(f64({2, 0}));
    add(of_type(DType::Float32, sampler.shape(3)));
    add(of_type(DType::BFloat16, sampler.shape(1)));
  }
  if (accepts(row.accepted, DType::UInt32)) {
    add(of_type(DType::UInt32, sampler.shape(2)));
    add(of_type(DType::UInt8, {}));
    add(of_type(DType::Int64, {0}));
  }
  if (accepts(row.accepted, DType::Bool)) add(of_type(DType::Bool, {4}));
  return samples;
}

}  // namespace

namespace primitives {

PrimitivePtr binary(std::string_view name) {
  static const std::vector<PrimitivePtr> made = [] {
    std::vector<PrimitivePtr> all;
    for (const BinaryRow& row : binary_rows) all.push_back(std::make_shared<Binary>(row));
    return all;
  }();
  const auto found =
      std::find_if(made.begin(), made.end(), [&](const auto& p) { return p->name() == name; });
  if (found == made.end()) throw_value_error("binary", fmt::format("no primitive '{}'", name));
  return *found;
}

}  // namespace primitives

void add_binary_kinds(std::vector<PrimitiveKind>& kinds) {
  for (const BinaryRow& row : binary_rows) {
    kinds.push_back({.name = std::string(row.name),
                     .differentiability = row.by_lhs == nullptr ? Differentiability::Zero
                                                                : Differentiability::Smooth,
                     .refusal = {},
                     .samples = [&row](std::uint64_t seed) { return binary_samples(row, seed); }});
  }
}

}  // namespace lockstep
