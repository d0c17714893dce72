#pragma once
/// From a function to a graph and back: what transformations of whole functions are made of.
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/trace/graph.h"

namespace lockstep {

/// A function of a flat list of arrays to another.
using FlatFunction = std::function<std::vector<Array>(std::span<const Array>)>;

/// A function as a graph; its parameters are the function's arguments.
struct RecordedFunction {
  std::shared_ptr<Graph> graph;  ///< closed
  std::vector<ValueId> outputs;
};

/// Runs `function` on traced arguments of these types and records all its ops; nothing is computed.
/// Inside a trace the graph may capture values of the enclosing ones (Graph::constants).
[[nodiscard]] RecordedFunction record(const FlatFunction& function,
                                      std::span<const AbstractValue> arguments);

/// Applies a recorded function: its nodes become ops of the current trace, or run at once outside
/// one. `arguments` are one for each parameter.
[[nodiscard]] std::vector<Array> evaluate(const RecordedFunction& function,
                                          std::span<const Array> arguments);

/// The types of a function's results for arguments of these types; nothing is computed.
[[nodiscard]] std::vector<AbstractValue> eval_shape(const FlatFunction& function,
                                                    std::span<const AbstractValue> arguments);

/// An array without elements that only tells its type: an argument for lower() and eval_shape().
/// Any op on it is a ValueError.
[[nodiscard]] Array shape_dtype_struct(Shape shape, DType dtype = float32);

}  // namespace lockstep
