#pragma once
/// jvp: forward-mode derivatives.
#include <tuple>
#include <utility>

#include "lockstep/trace/transform.h"

namespace lockstep {

namespace jvp_internal {

template <class... Primals>
struct Types {};

template <class Function, class... Primals, class... Tangents>
[[nodiscard]] auto call(const Function& function, const std::tuple<Primals...>& primals,
                        const std::tuple<Tangents...>& tangents) {
  static_assert(sizeof...(Primals) == sizeof...(Tangents), "one tangent for each argument");
  using Parameters = function_traits::Parameters<Function, Primals...>;
  using Result = function_traits::Result<Function, Parameters>;
  const auto to_trees = [](const auto&... arguments) {
    return function_traits::to_trees<Parameters>(arguments...);
  };
  const TreeJvp found = tree_jvp("jvp", function_traits::tree_function<Parameters>(function),
                                 std::apply(to_trees, primals), std::apply(to_trees, tangents));
  return std::pair(TreeConversion<Result>::from_tree(found.result),
                   TreeConversion<Result>::from_tree(found.tangent));
}

}  // namespace jvp_internal

/// `{f(x...), df(x...)·t...}`: the value and its derivative along the tangents, in one forward
/// pass. `jvp(f, std::tuple(x, y), std::tuple(tx, ty))`. A tangent has its argument's type; a
/// default- constructed Array is a zero tangent. Results that are not floating have the tangent 0.
template <class Function, class... Primals, class... Tangents>
[[nodiscard]] auto jvp(const Function& function, const std::tuple<Primals...>& primals,
                       const std::tuple<Tangents...>& tangents) {
  return jvp_internal::call(function, primals, tangents);
}

/// The same for a function of one argument: `jvp(f, x, t)`.
template <class Function, class Primal, class Tangent>
[[nodiscard]] auto jvp(const Function& function, const Primal& primal, const Tangent& tangent) {
  return jvp_internal::call(function, std::tuple<const Primal&>(primal),
                            std::tuple<const Tangent&>(tangent));
}

}  // namespace lockstep
