#pragma once
/// vjp: reverse-mode derivatives of functions of any result.
#include <array>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "lockstep/trace/transform.h"

namespace lockstep {

/// The transposed derivative of a function at a point: from a cotangent of the result to those of
/// the arguments. For one argument it gives that argument's type, for more a std::tuple.
template <class Result, class... Parameters>
class VjpFunction {
 public:
  explicit VjpFunction(std::function<std::vector<Tree>(const Tree&)> pullback)
      : pullback_(std::move(pullback)) {}

  /// ValueError where `cotangent` has another structure, shape or type than the result.
  [[nodiscard]] auto operator()(const Result& cotangent) const {
    const std::vector<Tree> found = pullback_(TreeConversion<Result>::to_tree(cotangent));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (sizeof...(Parameters) == 1) {
        return (TreeConversion<Parameters>::from_tree(found[I]), ...);
      } else {
        return std::tuple(TreeConversion<Parameters>::from_tree(found[I])...);
      }
    }(std::index_sequence_for<Parameters...>());
  }

 private:
  std::function<std::vector<Tree>(const Tree&)> pullback_;
};

namespace vjp_internal {

template <class Result, class Tuple>
struct FunctionOf;
template <class Result, class... Parameters>
struct FunctionOf<Result, std::tuple<Parameters...>> {
  using type = VjpFunction<Result, Parameters...>;
};

}  // namespace vjp_internal

/// `{f(x...), pullback}`: the value and a function from its cotangent to those of all arguments.
/// Every leaf of the arguments must be floating.
template <class Function, class... Arguments>
[[nodiscard]] auto vjp(const Function& function, const Arguments&... arguments) {
  using Parameters = function_traits::Parameters<Function, Arguments...>;
  using Result = function_traits::Result<Function, Parameters>;
  using Pullback = typename vjp_internal::FunctionOf<Result, Parameters>::type;
  std::array<std::size_t, sizeof...(Arguments)> argnums{};
  for (std::size_t i = 0; i < argnums.size(); ++i) argnums[i] = i;
  TreeVjp found = tree_vjp("vjp", function_traits::tree_function<Parameters>(function),
                           function_traits::to_trees<Parameters>(arguments...), argnums);
  return std::pair(TreeConversion<Result>::from_tree(found.result),
                   Pullback(std::move(found.pullback)));
}

}  // namespace lockstep
