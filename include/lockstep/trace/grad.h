#pragma once
/// grad and value_and_grad: reverse-mode derivatives of functions of trees.
///
/// The rules are built of ops, so a derivative is a function like any other: it can be
/// differentiated again, compiled by jit, and taken inside either.
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/function_traits.h"
#include "lockstep/trace/record.h"

namespace lockstep {

/// What differentiating a function of trees gives.
struct TreeGradients {
  Tree result;                  ///< what the function returned
  std::vector<Tree> gradients;  ///< one for each of argnums, of that argument's structure
};

/// Calls `function` and differentiates its result by the arguments `argnums`. The result is a
/// scalar, or, with `has_aux`, a list of the scalar and an auxiliary tree that is handed through.
/// ValueError "[where] ..." where an argument has a leaf that is not floating (naming its path) or
/// the result is not a floating scalar.
[[nodiscard]] TreeGradients differentiate(std::string_view where, const TreeFunction& function,
                                          std::span<const Tree> arguments,
                                          std::span<const std::size_t> argnums, bool has_aux);

/// What the derivative of a function returns for these parameter types.
namespace grad_internal {

template <class Result>
struct Auxiliary : std::false_type {};
template <class Aux>
struct Auxiliary<std::pair<Array, Aux>> : std::true_type {
  using type = Aux;
};

template <class ParameterTuple, std::size_t... Argnums>
struct GradientType {
  using type = std::tuple<std::tuple_element_t<Argnums, ParameterTuple>...>;
};
template <class ParameterTuple, std::size_t Argnum>
struct GradientType<ParameterTuple, Argnum> {
  using type = std::tuple_element_t<Argnum, ParameterTuple>;
};

template <class ParameterTuple, std::size_t... Argnums>
[[nodiscard]] auto from_gradients(const std::vector<Tree>& gradients) {
  using Gradient = typename GradientType<ParameterTuple, Argnums...>::type;
  if constexpr (sizeof...(Argnums) == 1) {
    return TreeConversion<Gradient>::from_tree(gradients.front());
  } else {
    return TreeConversion<Gradient>::from_tree(
        Tree(Tree::List(gradients.begin(), gradients.end())));
  }
}

template <class Function, std::size_t... Argnums>
class ValueAndGrad {
 public:
  explicit ValueAndGrad(Function function) : function_(std::move(function)) {}

  template <class... Arguments>
  [[nodiscard]] auto operator()(const Arguments&... arguments) const {
    using Parameters = function_traits::Parameters<Function, Arguments...>;
    using Result = function_traits::Result<Function, Parameters>;
    static_assert(((Argnums < sizeof...(Arguments)) && ...),
                  "argnums name an argument that the function does not have");
    constexpr std::size_t argnums[] = {Argnums...};
    const TreeGradients found = differentiate(
        "value_and_grad", function_traits::tree_function<Parameters>(function_),
        function_traits::to_trees<Parameters>(arguments...), argnums, Auxiliary<Result>::value);
    return std::pair(TreeConversion<Result>::from_tree(found.result),
                     from_gradients<Parameters, Argnums...>(found.gradients));
  }

 private:
  Function function_;
};

template <class Function, std::size_t... Argnums>
class Grad {
 public:
  explicit Grad(Function function) : function_(std::move(function)) {}

  template <class... Arguments>
  [[nodiscard]] auto operator()(const Arguments&... arguments) const {
    using Parameters = function_traits::Parameters<Function, Arguments...>;
    using Result = function_traits::Result<Function, Parameters>;
    auto [result, gradients] = ValueAndGrad<Function, Argnums...>(function_)(arguments...);
    if constexpr (Auxiliary<Result>::value) {
      return std::pair(std::move(gradients), std::move(result.second));
    } else {
      return std::move(gradients);
    }
  }

 private:
  Function function_;
};

}  // namespace grad_internal

/// A function that gives `{function(x...), gradient}`; the gradient is by argument 0, or by those
/// given: `value_and_grad<0, 2>(f)` gives a std::tuple of two. A gradient has its argument's type
/// and structure. `function` returns a floating scalar, or a std::pair of it and auxiliary output
/// (any tree type). Non-floating leaves of a differentiated argument are a ValueError.
template <std::size_t... Argnums, class Function>
[[nodiscard]] auto value_and_grad(Function function) {
  if constexpr (sizeof...(Argnums) == 0) {
    return grad_internal::ValueAndGrad<Function, 0>(std::move(function));
  } else {
    return grad_internal::ValueAndGrad<Function, Argnums...>(std::move(function));
  }
}

/// As value_and_grad without the value: `grad(f)(x)`. With auxiliary output it gives
/// `{gradient, auxiliary}`.
template <std::size_t... Argnums, class Function>
[[nodiscard]] auto grad(Function function) {
  if constexpr (sizeof...(Argnums) == 0) {
    return grad_internal::Grad<Function, 0>(std::move(function));
  } else {
    return grad_internal::Grad<Function, Argnums...>(std::move(function));
  }
}

}  // namespace lockstep
