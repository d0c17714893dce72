#pragma once
/// Functions with derivatives of their own, and rematerialisation.
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
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

/// A function with a reverse-mode rule of its own. Made by custom_vjp().
template <class Function, class Forward, class Backward>
class CustomVjpFunction {
 public:
  CustomVjpFunction(Function function, Forward forward, Backward backward)
      : function_(std::move(function)),
        forward_(std::move(forward)),
        backward_(std::move(backward)) {}

  template <class... Arguments>
  [[nodiscard]] auto operator()(const Arguments&... arguments) const {
    using Parameters = function_traits::Parameters<Function, Arguments...>;
    using Result = function_traits::Result<Function, Parameters>;
    using Residuals = typename function_traits::Result<Forward, Parameters>::second_type;
    return TreeConversion<Result>::from_tree(tree_custom_vjp(
        {.function = function_traits::tree_function<Parameters>(function_),
         .forward = function_traits::tree_function<Parameters>(forward_),
         .backward = function_traits::tree_function<std::tuple<Residuals, Result>>(backward_)},
        function_traits::to_trees<Parameters>(arguments...)));
  }

 private:
  Function function_;
  Forward forward_;
  Backward backward_;
};

/// `custom_vjp(f, forward, backward)`: f with a reverse-mode rule of its own. `forward(x...)` gives
/// std::pair(f(x...), residuals), and `backward(residuals, cotangent)` the argument's cotangent, or
/// for more arguments a std::tuple of them; Array() is a zero. A value of an enclosing trace that f
/// uses has no part in the rule: a ValueError where it is differentiated, as is forward mode.
template <class Function, class Forward, class Backward>
[[nodiscard]] auto custom_vjp(Function function, Forward forward, Backward backward) {
  return CustomVjpFunction<Function, Forward, Backward>(std::move(function), std::move(forward),
                                                        std::move(backward));
}

/// A function with a forward-mode rule of its own. Made by custom_jvp().
template <class Function, class Rule>
class CustomJvpFunction {
 public:
  CustomJvpFunction(Function function, Rule rule)
      : function_(std::move(function)), rule_(std::move(rule)) {}

  template <class... Arguments>
  [[nodiscard]] auto operator()(const Arguments&... arguments) const {
    using Parameters = function_traits::Parameters<Function, Arguments...>;
    using Result = function_traits::Result<Function, Parameters>;
    return TreeConversion<Result>::from_tree(tree_custom_jvp(
        {.function = function_traits::tree_function<Parameters>(function_),
         .rule = function_traits::tree_function<std::tuple<Parameters, Parameters>>(rule_)},
        function_traits::to_trees<Parameters>(arguments...)));
  }

 private:
  Function function_;
  Rule rule_;
};

/// `custom_jvp(f, rule)`: f with a derivative of its own, in both modes. `rule(primals, tangents)`
/// takes std::tuples of f's arguments and gives std::pair(f(x...), tangent), linear in the
/// tangents.
template <class Function, class Rule>
[[nodiscard]] auto custom_jvp(Function function, Rule rule) {
  return CustomJvpFunction<Function, Rule>(std::move(function), std::move(rule));
}

/// `checkpoint(f)`: f, of which the backward pass keeps only the arguments and computes the inside
/// again. Values and derivatives are those of f; memory is saved for time.
template <class Function>
[[nodiscard]] auto checkpoint(Function function) {
  return [function = std::move(function)](const auto&... arguments) {
    using Parameters = function_traits::Parameters<Function, std::decay_t<decltype(arguments)>...>;
    using Result = function_traits::Result<Function, Parameters>;
    return TreeConversion<Result>::from_tree(
        tree_checkpoint(function_traits::tree_function<Parameters>(function),
                        function_traits::to_trees<Parameters>(arguments...)));
  };
}

}  // namespace lockstep
