#pragma once
/// Compiled programs over flat lists of arrays: the fast path under jit and the Trainer.
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/pjrt/event.h"
#include "lockstep/pjrt/executable.h"
#include "lockstep/trace/lowering.h"
#include "lockstep/trace/record.h"

namespace lockstep {

/// How a program is compiled.
struct CompiledProgramOptions {
  std::string name = "main";  ///< The module's name, and where its errors say they come from.
  /// Where each input lives. All must be on the same devices: one device, or one mesh. Empty for a
  /// program without inputs, which runs on the devices of its outputs or on default_device().
  std::vector<Sharding> input_shardings = {};
  /// Where each output lives; one entry stands for all of them. Empty: on the one device, or
  /// replicated over the mesh.
  std::vector<Sharding> output_shardings = {};
  /// For each input whether a run may take its memory over (empty: none).
  std::vector<bool> donated = {};
  /// What errors call the inputs, e.g. "state/params/w"; by default "argument 0", "argument 1", ...
  std::vector<std::string> input_names = {};
};

/// A program that is traced, lowered and compiled once, and run often. Runs cost little more than
/// the runtime's own call. A handle: copies share the program. Any thread may run it.
class CompiledProgram {
 public:
  /// Traces `function` with inputs of these types and compiles what it records.
  /// ValueError inside a trace, or where shardings are on different devices or do not divide a
  /// shape.
  [[nodiscard]] static CompiledProgram compile(const FlatFunction& function,
                                               std::span<const AbstractValue> inputs,
                                               const CompiledProgramOptions& options = {});
  /// Compiles the part of a recorded graph that `outputs` need; its parameters are the inputs.
  [[nodiscard]] static CompiledProgram compile(const Graph& graph, std::span<const ValueId> outputs,
                                               const CompiledProgramOptions& options = {});
  /// Compiles a module that was lowered (or written elsewhere) for these shardings.
  [[nodiscard]] static CompiledProgram compile(LoweredModule module,
                                               const CompiledProgramOptions& options = {});

  /// Starts the program on all its devices and returns; `outputs` (num_outputs() of them) are
  /// filled with arrays that the runtime completes later. `outputs` may overlap `inputs`: a loop
  /// can keep its state in one place. Donated inputs are deleted. `device_events`, if not empty,
  /// gets one event for each device: when that device's run is over. ValueError naming the input
  /// that is not on devices, has another shape, dtype or sharding, was already donated, or is
  /// donated while the same buffer is passed twice; nothing has run then.
  void run(std::span<const Array> inputs, std::span<Array> outputs,
           std::span<pjrt::Event> device_events = {}) const;
  /// The same with inputs and outputs in several parts that follow each other, such as a state and
  /// a batch, a next state and metrics.
  void run(std::initializer_list<std::span<const Array>> inputs,
           std::initializer_list<std::span<Array>> outputs,
           std::span<pjrt::Event> device_events = {}) const;
  /// The same with the outputs in a list of their own.
  [[nodiscard]] std::vector<Array> operator()(std::span<const Array> inputs) const;

  [[nodiscard]] const std::vector<AbstractValue>& inputs() const;
  [[nodiscard]] const std::vector<AbstractValue>& outputs() const;
  [[nodiscard]] std::size_t num_inputs() const { return inputs().size(); }
  [[nodiscard]] std::size_t num_outputs() const { return outputs().size(); }
  [[nodiscard]] const std::vector<Sharding>& input_shardings() const;
  [[nodiscard]] const std::vector<Sharding>& output_shardings() const;
  /// The devices it runs on, in the order of device_events.
  [[nodiscard]] const std::vector<Device>& devices() const;
  /// The StableHLO text it was compiled from.
  [[nodiscard]] const std::string& module_text() const;
  [[nodiscard]] const pjrt::LoadedExecutable& executable() const;

 private:
  using InputPart = std::span<const Array>;
  using OutputPart = std::span<Array>;
  struct Impl;
  explicit CompiledProgram(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// The lowering options that belong to these shardings: the mesh, each input's and output's split.
/// ValueError where they are not on the same devices.
[[nodiscard]] LoweringOptions lowering_options(const CompiledProgramOptions& options,
                                               std::size_t num_inputs, std::size_t num_outputs);

}  // namespace lockstep
