#pragma once
// What shape rules, lowerings and derivative rules share.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/function_builder.h"
#include "lockstep/trace/primitive.h"

namespace lockstep {

// "1, 2, 3".
std::string join(std::span<const std::int64_t> values);
// "float32[8,3] and float32[4]".
std::string describe(std::span<const AbstractValue> values);

// ValueError unless there are `expected` inputs.
void check_num_inputs(std::string_view where, std::span<const AbstractValue> inputs,
                      std::size_t expected);
// ValueError unless all inputs have one element type.
void check_same_dtype(std::string_view where, std::span<const AbstractValue> inputs);

// Which element types an elementwise primitive takes.
enum class Accepts { Anything, Number, SignedNumber, Inexact, Floating, Integer, IntegerOrBool };
bool accepts(Accepts accepted, DType dtype);
void check_accepts(std::string_view where, Accepts accepted, const AbstractValue& input,
                   std::string_view hint = {});

// The types of arrays.
std::vector<AbstractValue> abstract_values(std::span<const Array> arrays);
// Whether every value is weak: then so is what an op makes of them.
bool all_weak(std::span<const AbstractValue> values);

// 0, 1, ..., n - 1.
std::vector<std::int64_t> range(std::int64_t n);
// Those of 0 ... n - 1 that are not in `axes`.
std::vector<std::int64_t> remaining_axes(std::int64_t n, std::span<const std::int64_t> axes);
bool contains(std::span<const std::int64_t> values, std::int64_t value);
// `shape` without `axes`.
Shape without_axes(const Shape& shape, std::span<const std::int64_t> axes);
std::int64_t at(std::span<const std::int64_t> values, std::int64_t index);

// `axes` if all lie in [0, ndim) and differ; ValueError otherwise.
void check_axes(std::string_view where, std::string_view what, std::span<const std::int64_t> axes,
                const AbstractValue& value);

// ValueError unless `value` broadcasts to `shape` (NumPy's rule).
void check_broadcasts_to(std::string_view where, const AbstractValue& value, const Shape& shape);

// The one result's tangent or cotangent where the rule has one output.
inline std::vector<Array> one(Array array) {
  return {std::move(array)};
}

// A primitive of one operand that is linear in it: its JVP is itself, applied to the tangent.
class LinearPrimitive : public Primitive, public std::enable_shared_from_this<LinearPrimitive> {
 public:
  std::vector<Array> jvp(const JvpRequest& request) const override {
    return lockstep::apply(shared_from_this(), request.tangents.first(1));
  }
  std::vector<Array> vjp(const VjpRequest& request) const override {
    if (request.cotangents[0].is_null()) return one({});
    return one(transposed(request.cotangents[0], request.inputs[0]));
  }

 protected:
  // The cotangent of the operand `x`.
  virtual Array transposed(const Array& cotangent, const Array& x) const = 0;
};

// a + b where either may be null (zero).
Array add_cotangents(const Array& a, const Array& b);

// A region of one block over scalars of `dtype` that applies `op` to its two arguments.
std::string binary_region(FunctionBuilder& builder, std::string_view op, DType dtype);

// The least value of a type: -inf, the smallest integer, false. And the greatest.
Array lowest(DType dtype);
Array highest(DType dtype);
// The same as attribute text of a rank-0 constant: "0xFF800000", "-128".
std::string lowest_text(DType dtype);
std::string highest_text(DType dtype);
// Emits a scalar constant from attribute text.
std::string scalar_constant(FunctionBuilder& builder, DType dtype, std::string_view text);

}  // namespace lockstep
