#pragma once
/// Control flow inside compiled programs: cond, switch_, while_loop, fori_loop, scan.
///
/// Branches and bodies are traced once. They may use values of the enclosing trace; gradients flow
/// to those too.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/function_traits.h"

namespace lockstep {

/// How scan runs.
struct ScanOptions {
  std::optional<std::int64_t> length = {};  ///< Needed where there are no xs.
  bool reverse = false;  ///< From the last element to the first; ys stay in the places of their xs.
  std::int64_t unroll = 1;  ///< Steps in one pass of the loop; changes no result.
};

/// What a scan gives.
struct TreeScan {
  Tree carry;
  Tree ys;
};

/// Calls `body(carry, x)` for each x along axis 0 of the leaves of `xs`; it returns a list of two:
/// the new carry (of the old one's structure, shapes and types) and a tree y, of which each leaf is
/// stacked. Differentiable in both modes.
[[nodiscard]] TreeScan tree_scan(const TreeFunction& body, const Tree& init, const Tree& xs,
                                 const ScanOptions& options = {});
/// `branches[clamp(index)](operands...)`; all branches give the same structure, shapes and types.
[[nodiscard]] Tree tree_switch(const Array& index, std::span<const TreeFunction> branches,
                               std::span<const Tree> operands);
/// `predicate` (a scalar bool) ? when_true(operands) : when_false(operands).
[[nodiscard]] Tree tree_cond(const Array& predicate, const TreeFunction& when_true,
                             const TreeFunction& when_false, std::span<const Tree> operands);
/// Calls `body(carry)` as long as `condition(carry)`, a scalar bool, holds. Forward mode only.
[[nodiscard]] Tree tree_while_loop(const TreeFunction& condition, const TreeFunction& body,
                                   const Tree& init);
/// Calls `body(i, carry)` for i = lower ... upper-1. Differentiable in reverse mode where the
/// bounds are numbers; where one is a traced value it is a while_loop.
[[nodiscard]] Tree tree_fori_loop(const Array& lower, const Array& upper, const TreeFunction& body,
                                  const Tree& init);

/// `scan(f, init, xs)` with f(carry, x) -> std::pair(carry, y) gives std::pair(last carry, stacked
/// ys). Where no ys are wanted return std::pair(carry, Tree()).
template <class Body, class Carry, class Xs>
[[nodiscard]] auto scan(const Body& body, const Carry& init, const Xs& xs,
                        const ScanOptions& options = {}) {
  using Parameters = function_traits::Parameters<Body, Carry, Xs>;
  using CarryType = std::tuple_element_t<0, Parameters>;
  using XsType = std::tuple_element_t<1, Parameters>;
  using Result = function_traits::Result<Body, Parameters>;
  TreeScan found =
      tree_scan(function_traits::tree_function<Parameters>(body),
                TreeConversion<CarryType>::to_tree(static_cast<const CarryType&>(init)),
                TreeConversion<XsType>::to_tree(static_cast<const XsType&>(xs)), options);
  return Result(TreeConversion<typename Result::first_type>::from_tree(found.carry),
                TreeConversion<typename Result::second_type>::from_tree(found.ys));
}

/// `cond(p, f, g, x...)`: f(x...) where the scalar p holds, else g(x...). Only one of them runs
/// (under vmap with a batched p both do, and the results are selected).
template <class WhenTrue, class WhenFalse, class... Operands>
[[nodiscard]] auto cond(const Array& predicate, const WhenTrue& when_true,
                        const WhenFalse& when_false, const Operands&... operands) {
  using Parameters = function_traits::Parameters<WhenTrue, Operands...>;
  using Result = function_traits::Result<WhenTrue, Parameters>;
  return TreeConversion<Result>::from_tree(
      tree_cond(predicate, function_traits::tree_function<Parameters>(when_true),
                function_traits::tree_function<Parameters>(when_false),
                function_traits::to_trees<Parameters>(operands...)));
}

/// A branch of switch_ over operands of these types.
template <class... Operands>
using Branch = std::function<Array(const Operands&...)>;

/// `switch_(i, {f, g, h}, x...)`: the i-th branch of Arrays or trees; i is clamped. For branches of
/// other results there is tree_switch.
template <class... Operands>
[[nodiscard]] Array switch_(const Array& index,
                            const std::type_identity_t<std::vector<Branch<Operands...>>>& branches,
                            const Operands&... operands) {
  std::vector<TreeFunction> functions;
  for (const auto& branch : branches) {
    functions.push_back(function_traits::tree_function<std::tuple<Operands...>>(branch));
  }
  return tree_switch(index, functions,
                     function_traits::to_trees<std::tuple<Operands...>>(operands...))
      .leaf();
}

/// `while_loop(p, f, x)`: x = f(x) as long as p(x). ValueError when differentiated in reverse mode.
template <class Condition, class Body, class Carry>
[[nodiscard]] auto while_loop(const Condition& condition, const Body& body, const Carry& init) {
  using Parameters = function_traits::Parameters<Body, Carry>;
  using CarryType = std::tuple_element_t<0, Parameters>;
  return TreeConversion<CarryType>::from_tree(
      tree_while_loop(function_traits::tree_function<Parameters>(condition),
                      function_traits::tree_function<Parameters>(body),
                      TreeConversion<CarryType>::to_tree(static_cast<const CarryType&>(init))));
}

/// `fori_loop(lower, upper, f, x)`: x = f(i, x) for each i.
template <class Body, class Carry>
[[nodiscard]] auto fori_loop(const Array& lower, const Array& upper, const Body& body,
                             const Carry& init) {
  using Parameters = function_traits::Parameters<Body, Array, Carry>;
  using CarryType = std::tuple_element_t<1, Parameters>;
  return TreeConversion<CarryType>::from_tree(
      tree_fori_loop(lower, upper, function_traits::tree_function<Parameters>(body),
                     TreeConversion<CarryType>::to_tree(static_cast<const CarryType&>(init))));
}

}  // namespace lockstep
