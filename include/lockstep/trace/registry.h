#pragma once
/// The registry of primitives: what tests walk, so that a primitive without its rules cannot land.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/trace/primitive.h"

namespace lockstep {

/// One use of a primitive for tests: a primitive with attributes and inputs it accepts.
struct PrimitiveSample {
  std::shared_ptr<const Primitive> primitive = {};
  std::vector<AbstractValue> inputs = {};
  /// Range that random floating inputs are drawn from, where the function is smooth.
  double low = -1.0;
  double high = 1.0;
  /// Which inputs it is differentiated by; empty: every floating one.
  std::vector<std::size_t> differentiable = {};
};

/// How a primitive behaves under differentiation.
enum class Differentiability {
  Smooth,   ///< has VJP (and JVP) rules that finite differences confirm
  Zero,     ///< its derivative is zero by definition (floor, compare, iota, ...)
  Refused,  ///< differentiating it is an error, with the text in `refusal`
};

/// A kind of primitive.
struct PrimitiveKind {
  std::string name = {};
  Differentiability differentiability = Differentiability::Smooth;
  std::string refusal = {};
  /// At least three uses, from a seed: other shapes, other attributes, edge sizes.
  std::function<std::vector<PrimitiveSample>(std::uint64_t seed)> samples = {};
};

/// All kinds, by name.
[[nodiscard]] const std::vector<PrimitiveKind>& primitive_kinds();

}  // namespace lockstep
