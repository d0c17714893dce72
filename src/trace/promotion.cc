#include "lockstep/trace/promotion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "lockstep/base/error.h"
#include "trace/literals.h"

namespace lockstep {
namespace {

DefaultWidth& width_of_this_thread() {
  thread_local DefaultWidth width = DefaultWidth::Bits32;
  return width;
}

// The lattice's nodes: every element type, then the three weak types.
constexpr unsigned num_dtypes = static_cast<unsigned>(DType::Complex128) + 1;
constexpr unsigned weak_int = num_dtypes;
constexpr unsigned weak_float = num_dtypes + 1;
constexpr unsigned weak_complex = num_dtypes + 2;
constexpr unsigned num_nodes = num_dtypes + 3;

constexpr unsigned node(DType dtype) {
  return static_cast<unsigned>(dtype);
}
constexpr std::uint64_t bit(unsigned index) {
  return std::uint64_t{1} << index;
}

// For each node the set of nodes at or above it.
std::array<std::uint64_t, num_nodes> upper_bounds() {
  std::array<std::uint64_t, num_nodes> above{};
  const auto edge = [&](unsigned from, std::initializer_list<unsigned> to) {
    for (const unsigned target : to) above[from] |= bit(target);
  };
  const auto types = [&](DType from, std::initializer_list<DType> to) {
    for (const DType target : to) above[node(from)] |= bit(node(target));
  };
  using enum DType;
  edge(node(Bool), {weak_int});
  edge(weak_int, {node(UInt2), node(UInt4), node(UInt8), node(Int2), node(Int4), node(Int8)});
  types(UInt8, {Int16, UInt16});
  types(UInt16, {Int32, UInt32});
  types(UInt32, {Int64, UInt64});
  edge(node(UInt64), {weak_float});
  types(Int8, {Int16});
  types(Int16, {Int32});
  types(Int32, {Int64});
  edge(node(Int64), {weak_float});
  for (unsigned small = node(Float4E2M1FN); small <= node(BFloat16); ++small) {
    edge(weak_float, {small});
  }
  edge(weak_float, {weak_complex});
  types(BFloat16, {Float32});
  types(Float16, {Float32});
  types(Float32, {Float64, Complex64});
  types(Float64, {Complex128});
  edge(weak_complex, {node(Complex64)});
  types(Complex64, {Complex128});
  for (unsigned i = 0; i < num_nodes; ++i) above[i] |= bit(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint64_t& set : above) {
      std::uint64_t closed = set;
      for (unsigned i = 0; i < num_nodes; ++i) {
        if ((set & bit(i)) != 0) closed |= above[i];
      }
      changed = changed || closed != set;
      set = closed;
    }
  }
  return above;
}

unsigned node_of(PromotedType type) {
  if (!type.weak_type || type.dtype == DType::Bool) return node(type.dtype);
  if (is_complex(type.dtype)) return weak_complex;
  return is_floating(type.dtype) ? weak_float : weak_int;
}

PromotedType type_of(unsigned index) {
  switch (index) {
    case weak_int: return {default_int_dtype(), true};
    case weak_float: return {default_float_dtype(), true};
    case weak_complex: return {default_complex_dtype(), true};
    default: return {static_cast<DType>(index), false};
  }
}

std::string name(PromotedType type) {
  return std::string(to_string(type.dtype)) + (type.weak_type ? "*" : "");
}

}  // namespace

DefaultWidth default_width() {
  return width_of_this_thread();
}

DefaultWidthScope::DefaultWidthScope(DefaultWidth width)
    : previous_(std::exchange(width_of_this_thread(), width)) {}
DefaultWidthScope::~DefaultWidthScope() {
  width_of_this_thread() = previous_;
}

namespace {
DType by_width(DType narrow, DType wide) {
  return default_width() == DefaultWidth::Bits32 ? narrow : wide;
}
}  // namespace

DType default_float_dtype() {
  return by_width(DType::Float32, DType::Float64);
}
DType default_int_dtype() {
  return by_width(DType::Int32, DType::Int64);
}
DType default_uint_dtype() {
  return by_width(DType::UInt32, DType::UInt64);
}
DType default_complex_dtype() {
  return by_width(DType::Complex64, DType::Complex128);
}

PromotedType promote_types(PromotedType a, PromotedType b) {
  static const std::array<std::uint64_t, num_nodes> above = upper_bounds();
  const std::uint64_t common = above[node_of(a)] & above[node_of(b)];
  for (unsigned i = 0; i < num_nodes; ++i) {
    if ((common & bit(i)) == 0 || (common & ~above[i]) != 0) continue;
    PromotedType result = type_of(i);
    const bool made_wider = result.dtype == DType::Int64 && !result.weak_type &&
                            a.dtype != DType::Int64 && b.dtype != DType::Int64;
    if (made_wider) result.dtype = default_int_dtype();
    return result;
  }
  throw_value_error(
      "promote_types",
      fmt::format("{} and {} have no common type; convert one with astype", name(a), name(b)));
}

DType promote_types(DType a, DType b) {
  return promote_types(PromotedType{a, false}, PromotedType{b, false}).dtype;
}

PromotedType result_type(std::span<const Array> arrays) {
  PromotedType result;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const PromotedType type{arrays[i].dtype(), arrays[i].weak_type()};
    result = promote_types(i == 0 ? type : result, type);
  }
  return result;
}

PromotedType to_inexact(PromotedType type) {
  if (is_floating(type.dtype) || is_complex(type.dtype)) return type;
  if (type.weak_type && type.dtype != DType::Bool) return {default_float_dtype(), true};
  const bool wide = type.dtype == DType::Int64 || type.dtype == DType::UInt64;
  return {wide ? DType::Float64 : DType::Float32, false};
}

Shape broadcast_shapes(std::string_view where, std::span<const Shape> shapes) {
  std::size_t ndim = 0;
  for (const Shape& shape : shapes) ndim = std::max(ndim, shape.size());
  Shape result(ndim, 1);
  for (const Shape& shape : shapes) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& length = result[ndim - shape.size() + i];
      if (shape[i] == 1 || shape[i] == length) continue;
      if (length != 1) {
        std::string all;
        for (const Shape& s : shapes) all += (all.empty() ? "" : " and ") + to_string(s);
        throw_value_error(
            where, fmt::format("shapes {} do not broadcast: axis {} from the end is {} in one and "
                               "{} in another; lengths must be equal or 1",
                               all, shape.size() - i, length, shape[i]));
      }
      length = shape[i];
    }
  }
  return result;
}

std::vector<Array> promote_and_broadcast(std::string_view where, std::span<const Array> arrays) {
  std::vector<Shape> shapes;
  for (const Array& array : arrays) {
    check_operand(where, array);
    shapes.push_back(array.shape());
  }
  const PromotedType type = result_type(arrays);
  const Shape shape = broadcast_shapes(where, shapes);
  std::vector<Array> results;
  for (const Array& array : arrays) results.push_back(convert_and_broadcast(array, type, shape));
  return results;
}

}  // namespace lockstep
