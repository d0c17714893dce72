#pragma once
/// Functions with derivatives of their own, and rematerialisation.
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "lockstep/trace/function_traits.h"

namespace lockstep {

/// The parts of a function with a reverse-mode rule of its own (jax.custom_vjp).
struct TreeCustomVjp {
  std::string name = "custom_vjp";
  TreeFunction function;
  /// From the arguments to a list of two: the result and residuals (any tree).
  TreeFunction forward;
  /// From (residuals, cotangent of the result) to a list of the arguments' cotangents.
  TreeFunction backward;
};
[[nodiscard]] Tree tree_custom_vjp(const TreeCustomVjp& parts, std::span<const Tree> arguments);

/// The parts of a function with a forward-mode rule of its own (jax.custom_jvp), from which the
/// reverse mode follows by transposition: the rule must be linear in the tangents.
struct TreeCustomJvp {
  std::string name = "custom_jvp";
  TreeFunction function;
  /// From (list of arguments, list of tangents) to a list of two: the result and its tangent.
  TreeFunction rule;
};
[[nodiscard]] Tree tree_custom_jvp(const TreeCustomJvp& parts, std::span<const Tree> arguments);

/// Calls `function` so that its intermediate values are computed again for the backward pass
/// instead of being kept (jax.checkpoint).
[[nodiscard]] Tree tree_checkpoint(const TreeFunction& function, std::span<const Tree> arguments);

}  // namespace lockstep
