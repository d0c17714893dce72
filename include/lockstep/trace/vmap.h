#pragma once
/// vmap: a function of one example as a function of a batch.
#include <cstdint>
#include <utility>
#include <vector>

#include "lockstep/trace/transform.h"

namespace lockstep {

/// Which axes vmap maps over.
struct VmapOptions {
  /// One for each argument: the axis of its leaves, or std::nullopt for an argument that every
  /// example shares. Empty: axis 0 of all.
  std::vector<BatchAxis> in_axes = {};
  /// Where the results' new axis stands.
  std::int64_t out_axes = 0;
};

/// The function that vmap makes.
template <class Function>
class Vmapped {
 public:
  Vmapped(Function function, VmapOptions options)
      : function_(std::move(function)), options_(std::move(options)) {}

  template <class... Arguments>
  [[nodiscard]] auto operator()(const Arguments&... arguments) const {
    using Parameters = function_traits::Parameters<Function, Arguments...>;
    using Result = function_traits::Result<Function, Parameters>;
    const std::vector<BatchAxis> in_axes = options_.in_axes.empty()
                                               ? std::vector<BatchAxis>(sizeof...(Arguments), 0)
                                               : options_.in_axes;
    return TreeConversion<Result>::from_tree(
        tree_vmap("vmap", function_traits::tree_function<Parameters>(function_),
                  function_traits::to_trees<Parameters>(arguments...), in_axes, options_.out_axes));
  }

 private:
  Function function_;
  VmapOptions options_;
};

/// `vmap(f)(xs...)`: f of each example, all computed together: `vmap(f, {.in_axes = {0,
/// std::nullopt}})`. Composes with every other transformation, and with itself.
template <class Function>
[[nodiscard]] Vmapped<Function> vmap(Function function, VmapOptions options = {}) {
  return Vmapped<Function>(std::move(function), std::move(options));
}

}  // namespace lockstep
