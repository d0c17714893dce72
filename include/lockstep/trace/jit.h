#pragma once
/// jit: compiled functions.
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/function_traits.h"
#include "lockstep/trace/lowering.h"
#include "lockstep/trace/record.h"

namespace lockstep {

/// How a function is compiled and where it runs.
struct JitOptions {
  std::string name = "jit";
  /// Arguments whose buffers the call may take over (they are deleted by it).
  std::vector<std::size_t> donate_argnums = {};
  /// Where results live: one sharding for all leaves, if given; else replicated where arguments are
  /// on a mesh, and the arguments' device for a single device.
  std::optional<Sharding> out_sharding = {};
};

/// A function that is traced once for every signature (structure, shapes, dtypes, shardings) of its
/// arguments and compiled; further calls run the executable. Any thread may call it.
class CompiledFunction {
 public:
  CompiledFunction(TreeFunction function, JitOptions options);
  /// Arguments in host memory go to the devices of the others (replicated over a mesh), else to
  /// out_sharding's, else to default_device(). Inside a trace the function is traced in its place.
  /// ValueError where arguments are on different devices, or were donated already.
  [[nodiscard]] Tree operator()(std::span<const Tree> arguments) const;
  /// The StableHLO text for these arguments (arrays or shape_dtype_struct stand-ins).
  [[nodiscard]] std::string lower(std::span<const Tree> arguments) const;
  /// How many signatures have been compiled.
  [[nodiscard]] std::size_t cache_size() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// jit of a function of arrays, trees, tree structs and containers of them, to one of these. A
/// generic function (a lambda of `auto`) takes each argument as it is given; numbers are arrays.
template <class Function>
class Jitted {
 public:
  Jitted(Function function, JitOptions options)
      : function_(std::move(function)),
        options_(std::move(options)),
        variants_(std::make_shared<Variants>()) {}

  template <class... Arguments>
  [[nodiscard]] auto operator()(const Arguments&... arguments) const {
    using Parameters = function_traits::Parameters<Function, Arguments...>;
    using Result = function_traits::Result<Function, Parameters>;
    const std::vector<Tree> trees = function_traits::to_trees<Parameters>(arguments...);
    return TreeConversion<Result>::from_tree(variant<Parameters>()(trees));
  }

  /// The StableHLO text for these arguments (arrays or shape_dtype_struct stand-ins).
  template <class... Arguments>
  [[nodiscard]] std::string lower(const Arguments&... arguments) const {
    using Parameters = function_traits::Parameters<Function, Arguments...>;
    return variant<Parameters>().lower(function_traits::to_trees<Parameters>(arguments...));
  }

  /// How many signatures have been compiled.
  [[nodiscard]] std::size_t cache_size() const {
    const std::scoped_lock lock(variants_->mutex);
    std::size_t size = 0;
    for (const auto& [parameters, compiled] : variants_->compiled) size += compiled.cache_size();
    return size;
  }

 private:
  // One compiled function for each list of parameter types: only generic functions have several.
  struct Variants {
    std::mutex mutex;
    std::map<std::type_index, CompiledFunction> compiled;
  };

  template <class Parameters>
  const CompiledFunction& variant() const {
    const std::scoped_lock lock(variants_->mutex);
    const std::type_index type(typeid(Parameters));
    auto found = variants_->compiled.find(type);
    if (found == variants_->compiled.end()) {
      found =
          variants_->compiled
              .emplace(type, CompiledFunction(function_traits::tree_function<Parameters>(function_),
                                              options_))
              .first;
    }
    return found->second;
  }

  Function function_;
  JitOptions options_;
  std::shared_ptr<Variants> variants_;
};

/// Compiles `function` on its first call for each signature: `auto f = jit([](const Array& x) { ...
/// });`.
template <class Function>
[[nodiscard]] Jitted<Function> jit(Function function, JitOptions options = {}) {
  return Jitted<Function>(std::move(function), std::move(options));
}

}  // namespace lockstep
