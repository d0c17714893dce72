#pragma once
/// jit: compiled functions.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/function_traits.h"
#include "lockstep/trace/lowering.h"

namespace lockstep {

/// A function of trees to a tree: what jit and grad see of any function.
using TreeFunction = std::function<Tree(std::span<const Tree>)>;

/// How a function is compiled and where it runs.
struct JitOptions {
  std::string name = "jit";
  /// Arguments whose buffers the call may take over (they are deleted by it).
  std::vector<std::size_t> donate_argnums;
  /// Where results live: one sharding for all leaves, if given; else the compiler's choice for a mesh is
  /// replicated, and the arguments' device for a single device.
  std::optional<Sharding> out_sharding;
};

/// A function that is traced once for every signature (structure, shapes, dtypes, shardings) of its
/// arguments and compiled; further calls run the executable.
class CompiledFunction {
 public:
  CompiledFunction(TreeFunction function, JitOptions options);
  [[nodiscard]] Tree operator()(std::span<const Tree> arguments) const;
  /// The StableHLO text for these arguments (arrays or abstract stand-ins).
  [[nodiscard]] std::string lower(std::span<const Tree> arguments) const;
  /// How many signatures have been compiled.
  [[nodiscard]] std::size_t cache_size() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// jit of a function of arrays, trees or tree structs, to one of these.
template <class Function>
class Jitted {
 public:
  Jitted(Function function, JitOptions options);
  template <class... Arguments>
  [[nodiscard]] auto operator()(const Arguments&... arguments) const;
  template <class... Arguments>
  [[nodiscard]] std::string lower(const Arguments&... arguments) const;
  [[nodiscard]] std::size_t cache_size() const;
};

template <class Function>
[[nodiscard]] Jitted<Function> jit(Function function, JitOptions options = {});

}  // namespace lockstep
