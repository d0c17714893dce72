#pragma once
/// Graphs: what a trace records.
///
/// A graph owns its nodes in the order they were recorded, which is a topological order, so every
/// pass over it is a loop: no recursion, linear in the number of nodes, however deep the program.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep {

class Primitive;

/// Index of a value in its graph.
using ValueId = std::uint32_t;

/// One application of a primitive. Its outputs are the values [first_output, first_output +
/// num_outputs).
struct Node {
  std::shared_ptr<const Primitive> primitive;
  std::vector<ValueId> inputs;
  ValueId first_output = 0;
  std::uint32_t num_outputs = 1;
};

/// Where a value comes from.
struct ValueInfo {
  enum class Source : std::uint8_t { Parameter, Constant, Node };
  AbstractValue abstract_value;
  Source source = Source::Node;
  /// Index of the parameter, the captured constant or the node.
  std::uint32_t index = 0;
};

/// What a trace records. Two modes:
/// * Recording (jit, bodies of control flow): every op is recorded, nothing runs.
/// * Tape (grad outside jit): ops on concrete arrays run at once; those that depend on a tracked
/// value
///   are recorded too, with their results.
class Graph : public std::enable_shared_from_this<Graph> {
 public:
  enum class Mode { Recording, Tape };

  explicit Graph(Mode mode) : mode_(mode) {}

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] std::size_t num_values() const { return values_.size(); }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const ValueInfo& value(ValueId id) const { return values_[id]; }
  [[nodiscard]] const std::vector<ValueId>& parameters() const { return parameters_; }
  /// Concrete arrays (and, in a body, values of the enclosing trace) that the program uses, in
  /// order of first use; the value of constants()[i] has source Constant and index i.
  [[nodiscard]] const std::vector<Array>& constants() const { return constants_; }

  /// A new parameter.
  Array add_parameter(AbstractValue abstract_value);
  /// The value that stands for `array` in this graph: its own value, or a constant made for it
  /// (the same one each time for the same array). ValueError for a traced value whose trace is
  /// over, or is not one of this thread.
  ValueId value_of(const Array& array);
  /// Whether `array` is a value of this graph.
  [[nodiscard]] bool owns(const Array& array) const;
  /// Records a node; `results` are its concrete results in Tape mode, else empty.
  std::vector<Array> add_node(std::shared_ptr<const Primitive> primitive,
                              std::vector<ValueId> inputs, std::vector<AbstractValue> outputs,
                              std::vector<Array> results = {});
  /// The array that stands for a value: a traced one, or the captured array of a constant.
  [[nodiscard]] Array array_of(ValueId id);
  /// The elements of a value of a tape: its result, or the captured array of a constant.
  [[nodiscard]] const Array& concrete(ValueId id) const;

  /// After this no op may be recorded: a leaked tracer is refused with a ValueError.
  void close() { closed_ = true; }
  [[nodiscard]] bool is_closed() const { return closed_; }

 private:
  Mode mode_;
  bool closed_ = false;
  std::vector<Node> nodes_;
  std::vector<ValueInfo> values_;
  std::vector<Array> concrete_;  // Tape mode: each value's array
  std::vector<ValueId> parameters_;
  std::vector<Array> constants_;
  std::unordered_map<const ArrayImpl*, ValueId> constant_values_;
};

/// The traced kind of array: a value of a graph.
class TracedArray final : public ArrayImpl {
 public:
  TracedArray(std::shared_ptr<Graph> graph, ValueId id, AbstractValue abstract_value)
      : ArrayImpl(Kind::Traced, std::move(abstract_value)), graph_(std::move(graph)), id_(id) {}
  [[nodiscard]] const std::shared_ptr<Graph>& graph() const { return graph_; }
  [[nodiscard]] ValueId id() const { return id_; }

 private:
  std::shared_ptr<Graph> graph_;
  ValueId id_;
};

/// Makes `graph` the one that this thread's ops go to, until the scope ends.
class GraphScope {
 public:
  explicit GraphScope(std::shared_ptr<Graph> graph);
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;
};

/// This thread's innermost graph, or null outside a trace.
[[nodiscard]] const std::shared_ptr<Graph>& current_graph();

/// Whether `graph` is the innermost graph of this thread or one around it.
[[nodiscard]] bool is_active(const Graph& graph);

/// The graph value behind a traced array; ValueError for an array that is not traced.
[[nodiscard]] const TracedArray& traced(const Array& array);

}  // namespace lockstep
