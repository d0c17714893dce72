#pragma once
/// Steps: pure functions of a state and a global batch, and how they are compiled for a strategy.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/strategy/strategy.h"

namespace lockstep {

/// What a step gives back: the next state, and scalar metrics by name.
struct StepOutput {
  Tree state;
  Tree metrics;
};

/// A step: written for the whole (global) batch, pure, traced once for each signature of its
/// arguments. The state it returns has the structure, shapes and dtypes of the one it was given.
using StepFunction = std::function<StepOutput(const Tree& state, const Tree& batch)>;

/// An evaluation step: metrics of a batch under a state. Each metric is a mean over the batch's
/// rows.
using EvalFunction = std::function<Tree(const Tree& state, const Tree& batch)>;

/// A step compiled for a strategy: the state replicated (or on the one device) and donated, the
/// batch split along its leading dimension, metrics replicated; more than one device: one program
/// partitioned by Shardy over the strategy's mesh.
///
/// Each new signature of a batch (say a short last one) is compiled once more.
class CompiledStep {
 public:
  CompiledStep(StepFunction step, std::shared_ptr<const Strategy> strategy,
               std::string name = "train_step");
  /// An evaluation step: nothing is donated, and the state is given back as it is.
  [[nodiscard]] static CompiledStep evaluation(EvalFunction step,
                                               std::shared_ptr<const Strategy> strategy,
                                               std::string name = "eval_step");
  ~CompiledStep();
  CompiledStep(CompiledStep&&) noexcept;
  CompiledStep& operator=(CompiledStep&&) noexcept;

  /// Places both arguments by the strategy and runs the step. The state's arrays are used up where
  /// they were placed already; to use them again is an error.
  /// ValueError
  /// * for a state leaf that was donated before, or the same buffer at two places, naming them;
  /// * for a step that returns a state of another structure, or a leaf of another shape or dtype,
  ///   naming its path and both types;
  /// * for a metric that is no scalar, naming it.
  [[nodiscard]] StepOutput operator()(const Tree& state, const Tree& batch);

  /// Traces and compiles for these arguments (placed or not), unless that was done before.
  void compile(const Tree& state, const Tree& batch);

  /// The flat interface of the training loop. The leaves are those of trees of the structures last
  /// compiled for, placed, in flattening order. `state` is replaced by the next state (an
  /// evaluation step leaves it), `metrics` by the metrics. Nothing is checked that compile() has
  /// checked.
  void run(std::vector<Array>& state, const std::vector<Array>& batch, std::vector<Array>& metrics);

  /// Names of the metrics, "loss" or "head/loss", in the order of run's metrics; empty before the
  /// first compile.
  [[nodiscard]] const std::vector<std::string>& metric_names() const;
  /// The structures last compiled for.
  [[nodiscard]] const TreeStructure& state_structure() const;
  [[nodiscard]] const TreeStructure& batch_structure() const;
  /// How many signatures have been compiled, and how long that took.
  [[nodiscard]] std::size_t num_programs() const;
  [[nodiscard]] double compile_seconds() const;
  /// The StableHLO text of the program compiled last.
  [[nodiscard]] const std::string& text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
