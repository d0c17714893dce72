#pragma once
// What grad, vjp and jvp share: where a differentiation is recorded, and by which leaves it is.
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/trace/graph.h"
#include "lockstep/trace/record.h"
#include "lockstep/trace/transform.h"

namespace lockstep {

// The graph that a differentiation records on: inside a trace that of the trace; outside a tape of
// its own, which is current until finish().
class DifferentiationScope {
 public:
  DifferentiationScope();

  [[nodiscard]] Graph& graph() const { return *graph_; }
  [[nodiscard]] const std::shared_ptr<Graph>& shared_graph() const { return graph_; }
  // Whether rules work on traced values: inside a trace. Else on the tape's concrete ones.
  [[nodiscard]] bool records() const { return !is_outermost_; }
  // What the own tape tracked becomes a plain array again.
  [[nodiscard]] Array untracked(const Array& array) const;
  [[nodiscard]] Tree untracked(const Tree& tree) const;
  // Ends the own tape: nothing more is recorded on it.
  void finish();

 private:
  bool is_outermost_;
  std::shared_ptr<Graph> graph_;
  std::optional<GraphScope> scope_;
};

// The leaves of the arguments `argnums`, all of them floating or complex; ValueError naming the
// leaf that is not.
std::vector<Array> differentiated_leaves(std::string_view where, std::span<const Tree> arguments,
                                         std::span<const std::size_t> argnums);

// `arguments` with those of `argnums` made of `leaves`.
std::vector<Tree> with_leaves(std::span<const Tree> arguments, std::span<const std::size_t> argnums,
                              std::span<const Array> leaves);

// Calls `function` and differentiates it along `tangents` (null: zero). A result's tangent is null
// where it does not depend on what moves.
struct PushedForward {
  std::vector<Array> results;
  std::vector<Array> tangents;
};
PushedForward push_forward(const FlatFunction& function, std::span<const Array> inputs,
                           std::span<const Array> tangents);

// The cotangents of the inputs that are `needed`, for those of function(inputs) (null: zero); null
// where an input has no part in them.
std::vector<Array> pull_back(const FlatFunction& function, std::span<const Array> inputs,
                             const std::vector<bool>& needed, std::span<const Array> cotangents);

// The leaf's argument and path in words: "argument 1 at 'layers/0/w'".
std::string describe_leaf(std::size_t argument, const KeyPath& path);

}  // namespace lockstep
