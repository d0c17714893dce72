#include "trace/rule_support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "trace/constant_text.h"
#include "trace/primitives.h"

namespace lockstep {

std::string join(std::span<const std::int64_t> values) {
  return fmt::format("{}", fmt::join(values.begin(), values.end(), ", "));
}

std::string describe(std::span<const AbstractValue> values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += i + 1 == values.size() ? " and " : ", ";
    text += to_string(values[i]);
  }
  return text.empty() ? "nothing" : text;
}

void check_num_inputs(std::string_view where, std::span<const AbstractValue> inputs,
                      std::size_t expected) {
  if (inputs.size() == expected) return;
  throw_value_error(where, fmt::format("takes {} operand{}, got {}: {}", expected,
                                       expected == 1 ? "" : "s", inputs.size(), describe(inputs)));
}

void check_same_dtype(std::string_view where, std::span<const AbstractValue> inputs) {
  for (const AbstractValue& input : inputs) {
    if (input.dtype == inputs.front().dtype) continue;
    throw_value_error(where, fmt::format("operands have different element types: {}; convert one "
                                         "with astype",
                                         describe(inputs)));
  }
}

bool accepts(Accepts accepted, DType dtype) {
  switch (accepted) {
    case Accepts::Anything: return true;
    case Accepts::Number: return dtype != DType::Bool;
    case Accepts::SignedNumber:
      return is_floating(dtype) || is_complex(dtype) || is_signed_integer(dtype);
    case Accepts::Inexact: return is_floating(dtype) || is_complex(dtype);
    case Accepts::Floating: return is_floating(dtype);
    case Accepts::Integer: return is_integer(dtype);
    case Accepts::IntegerOrBool: return is_integer(dtype) || dtype == DType::Bool;
  }
  return false;
}

void check_accepts(std::string_view where, Accepts accepted, const AbstractValue& input,
                   std::string_view hint) {
  if (accepts(accepted, input.dtype)) return;
  constexpr std::array<std::string_view, 7> names = {"anything",
                                                     "numbers, not bool",
                                                     "floating, complex or signed integer numbers",
                                                     "floating or complex numbers",
                                                     "floating numbers",
                                                     "integers",
                                                     "integers or bool"};
  throw_value_error(
      where, fmt::format("takes {}, got {}; {}", names.at(static_cast<std::size_t>(accepted)),
                         to_string(input), hint.empty() ? "convert it with astype" : hint));
}

std::vector<AbstractValue> abstract_values(std::span<const Array> arrays) {
  std::vector<AbstractValue> values;
  values.reserve(arrays.size());
  for (const Array& array : arrays) values.push_back(array.abstract_value());
  return values;
}

bool all_weak(std::span<const AbstractValue> values) {
  return std::all_of(values.begin(), values.end(),
                     [](const AbstractValue& value) { return value.weak_type; });
}

std::vector<std::int64_t> range(std::int64_t n) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

bool contains(std::span<const std::int64_t> values, std::int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<std::int64_t> remaining_axes(std::int64_t n, std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> rest;
  for (std::int64_t axis = 0; axis < n; ++axis) {
    if (!contains(axes, axis)) rest.push_back(axis);
  }
  return rest;
}

Shape without_axes(const Shape& shape, std::span<const std::int64_t> axes) {
  Shape rest;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!contains(axes, static_cast<std::int64_t>(i))) rest.push_back(shape[i]);
  }
  return rest;
}

std::int64_t at(std::span<const std::int64_t> values, std::int64_t index) {
  return values[static_cast<std::size_t>(index)];
}

void check_axes(std::string_view where, std::string_view what, std::span<const std::int64_t> axes,
                const AbstractValue& value) {
  const auto ndim = static_cast<std::int64_t>(value.shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= ndim) {
      throw_value_error(where, fmt::format("{} ({}) name axis {}, but {} has {} axes", what,
                                           join(axes), axes[i], to_string(value), ndim));
    }
    if (contains(axes.first(i), axes[i])) {
      throw_value_error(
          where, fmt::format("{} ({}) name axis {} of {} twice; each axis has one place", what,
                             join(axes), axes[i], to_string(value)));
    }
  }
}

void check_broadcasts_to(std::string_view where, const AbstractValue& value, const Shape& shape) {
  const std::size_t ndim = value.shape.size();
  bool fits = ndim <= shape.size();
  for (std::size_t i = 0; fits && i < ndim; ++i) {
    fits = value.shape[i] == 1 || value.shape[i] == shape[shape.size() - ndim + i];
  }
  if (fits) return;
  throw_value_error(where,
                    fmt::format("{} does not broadcast to {}; from the last axis on, lengths "
                                "must be equal or 1",
                                to_string(value), to_string(shape)));
}

Array add_cotangents(const Array& a, const Array& b) {
  if (a.is_null()) return b;
  if (b.is_null()) return a;
  return add(a, b);
}

std::string binary_region(FunctionBuilder& builder, std::string_view op, DType dtype) {
  const std::string type = mlir_type({.shape = {}, .dtype = dtype});
  const std::string a = builder.new_value();
  const std::string b = builder.new_value();
  const std::string r = builder.new_value();
  return fmt::format(
      "    ^bb0({0}: {3}, {1}: {3}):\n"
      "      {2} = \"{4}\"({0}, {1}) : ({3}, {3}) -> {3}\n"
      "      \"stablehlo.return\"({2}) : ({3}) -> ()\n",
      a, b, r, type, op);
}

namespace {

// The 8- and 4-bit floats without infinities end at their largest finite number.
bool has_infinity(DType dtype) {
  switch (dtype) {
    case DType::Float4E2M1FN:
    case DType::Float6E2M3FN:
    case DType::Float6E3M2FN:
    case DType::Float8E4M3FN:
    case DType::Float8E4M3B11FNUZ:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E8M0FNU: return false;
    default: return true;
  }
}

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::Float4E2M1FN: return 6.0;
    case DType::Float6E2M3FN: return 7.5;
    case DType::Float6E3M2FN: return 28.0;
    case DType::Float8E4M3FN: return 448.0;
    case DType::Float8E4M3B11FNUZ: return 30.0;
    case DType::Float8E4M3FNUZ: return 240.0;
    case DType::Float8E5M2FNUZ: return 57344.0;
    default: return std::numeric_limits<double>::infinity();
  }
}

std::string extreme_text(DType dtype, bool greatest) {
  if (dtype == DType::Bool) return greatest ? "true" : "false";
  if (is_floating(dtype)) {
    const double limit =
        has_infinity(dtype) ? std::numeric_limits<double>::infinity() : largest_finite(dtype);
    return element_text(dtype, greatest ? limit : -limit);
  }
  if (is_complex(dtype)) {
    throw_value_error("max",
                      fmt::format("complex numbers have no order; got {}", to_string(dtype)));
  }
  const int width = bit_width(dtype);
  if (is_unsigned_integer(dtype)) {
    if (!greatest) return "0";
    return fmt::format("{}", std::numeric_limits<std::uint64_t>::max() >> (64 - width));
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - width);
  return fmt::format("{}", greatest ? most : -most - 1);
}

Array extreme(DType dtype, bool greatest) {
  const AbstractValue value{.shape = {}, .dtype = dtype};
  if (is_floating(dtype)) {
    const double limit =
        has_infinity(dtype) ? std::numeric_limits<double>::infinity() : largest_finite(dtype);
    return apply_one(primitives::constant(value, greatest ? limit : -limit), {});
  }
  if (dtype == DType::Bool) {
    return apply_one(primitives::constant(value, std::int64_t{greatest ? 1 : 0}), {});
  }
  const int width = bit_width(dtype);
  std::int64_t limit = 0;
  if (is_unsigned_integer(dtype)) {
    if (greatest) limit = static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - width));
  } else {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - width);
    limit = greatest ? most : -most - 1;
  }
  return apply_one(primitives::constant(value, limit), {});
}

}  // namespace

Array lowest(DType dtype) {
  return extreme(dtype, false);
}
Array highest(DType dtype) {
  return extreme(dtype, true);
}
std::string lowest_text(DType dtype) {
  return extreme_text(dtype, false);
}
std::string highest_text(DType dtype) {
  return extreme_text(dtype, true);
}

std::string scalar_constant(FunctionBuilder& builder, DType dtype, std::string_view text) {
  const AbstractValue value{.shape = {}, .dtype = dtype};
  return builder.emit_one("stablehlo.constant", {}, {}, value,
                          fmt::format("value = dense<{}> : {}", text, mlir_type(value)));
}

}  // namespace lockstep
