#pragma once
/// Transformations of functions of trees: what the typed jvp, vjp, vmap, scan, ... are made of.
/// A Tree's leaves are arrays; null leaves stand for "none" where a comment says so.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/function_traits.h"

namespace lockstep {

/// What forward-mode differentiation gives.
struct TreeJvp {
  Tree result;
  /// The derivative of `result` along the tangents, of its structure; zeros for leaves that are not
  /// floating (JAX's float0).
  Tree tangent;
};

/// Calls `function` and differentiates it along `tangents`, one tree for each argument, of its
/// structure. A null leaf is a zero tangent; leaves of arguments that are not floating take none.
/// ValueError "[where] ..." where a tangent has another shape or type than its argument's leaf.
[[nodiscard]] TreeJvp tree_jvp(std::string_view where, const TreeFunction& function,
                               std::span<const Tree> arguments, std::span<const Tree> tangents);

/// What reverse-mode differentiation of any result gives.
struct TreeVjp {
  Tree result;
  /// From a cotangent of `result` (its structure; null leaves are zeros, and those of leaves that
  /// are not floating are ignored) to the cotangents of the arguments `argnums`. May be called any
  /// number of times, also inside other transformations.
  std::function<std::vector<Tree>(const Tree& cotangent)> pullback;
};

/// Calls `function` and records what its transposed derivative by the arguments `argnums` needs.
[[nodiscard]] TreeVjp tree_vjp(std::string_view where, const TreeFunction& function,
                               std::span<const Tree> arguments,
                               std::span<const std::size_t> argnums);

/// Where an argument is batched: an axis of each of its leaves, or none.
using BatchAxis = std::optional<std::int64_t>;

/// Maps `function` over an axis of its arguments: one entry of `in_axes` for each argument
/// (negative ones count from the end). Every leaf of the result gets the axis at `out_axis`.
/// ValueError where no argument is batched, or the lengths differ (naming the leaves).
[[nodiscard]] Tree tree_vmap(std::string_view where, const TreeFunction& function,
                             std::span<const Tree> arguments, std::span<const BatchAxis> in_axes,
                             std::int64_t out_axis = 0);

}  // namespace lockstep
