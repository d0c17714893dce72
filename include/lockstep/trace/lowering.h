#pragma once
/// From a graph to a StableHLO module.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/array/sharding.h"
#include "lockstep/trace/function_builder.h"
#include "lockstep/trace/graph.h"

namespace lockstep {

/// What a module is lowered with.
struct LoweringOptions {
  std::string name = "main";
  /// The mesh of the partitioned program; none: one device.
  std::optional<Mesh> mesh = {};
  /// One for each parameter and each output, where there is a mesh.
  std::vector<PartitionSpec> parameter_specs = {};
  std::vector<PartitionSpec> output_specs = {};
  /// For each parameter whether it may be donated. Each is aliased to the first output of the same
  /// type and sharding that is not taken yet.
  std::vector<bool> donated = {};
};

/// A module and what running it needs to know.
struct LoweredModule {
  std::string text;                       ///< StableHLO, generic MLIR form
  std::vector<AbstractValue> parameters;  ///< without the hoisted constants
  std::vector<AbstractValue> outputs;
  /// Constants too large to print: extra parameters after the others (replicated).
  std::vector<Array> hoisted_constants;
  /// For each parameter the output it is aliased to, or -1.
  std::vector<std::int64_t> aliased_output;
};

/// `#sdy.sharding<@mesh, [{"data"}, {}]>`: a dimension's axes in braces, one entry for each of
/// `ndim` dimensions.
[[nodiscard]] std::string sharding_text(const PartitionSpec& spec, std::size_t ndim);

/// Emits the elements as a constant; returns its SSA name.
[[nodiscard]] std::string emit_constant(FunctionBuilder& builder, const HostTensor& tensor);

/// Emits the nodes of `graph` that `outputs` need into `builder`. `parameters` and `constants` are
/// the SSA names of the graph's parameters and captured constants; returns the names of the
/// outputs.
[[nodiscard]] std::vector<std::string> lower_nodes(const Graph& graph,
                                                   std::span<const ValueId> outputs,
                                                   FunctionBuilder& builder,
                                                   std::span<const std::string> parameters,
                                                   std::span<const std::string> constants);

/// Which nodes the outputs need, by index.
[[nodiscard]] std::vector<bool> live_nodes(const Graph& graph, std::span<const ValueId> outputs);

/// Which values the outputs or live nodes use, by id.
[[nodiscard]] std::vector<bool> used_values(const Graph& graph, std::span<const ValueId> outputs,
                                            const std::vector<bool>& live);

/// Lowers the part of `graph` that `outputs` need. Dead nodes are not printed.
[[nodiscard]] LoweredModule lower_graph(const Graph& graph, std::span<const ValueId> outputs,
                                        const LoweringOptions& options = {});

}  // namespace lockstep
