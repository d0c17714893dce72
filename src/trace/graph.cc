#include "lockstep/trace/graph.h"

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/primitive.h"

namespace lockstep {
namespace {

std::vector<std::shared_ptr<Graph>>& graph_stack() {
  thread_local std::vector<std::shared_ptr<Graph>> stack;
  return stack;
}

[[noreturn]] void throw_leaked(const AbstractValue& value) {
  throw_value_error("trace", "a traced value of type " + to_string(value) +
                                 " is used outside the trace that made it; a traced function must "
                                 "return what is wanted of it instead of keeping it elsewhere");
}

}  // namespace

Array Graph::add_parameter(AbstractValue abstract_value) {
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back({.abstract_value = abstract_value,
                     .source = ValueInfo::Source::Parameter,
                     .index = static_cast<std::uint32_t>(parameters_.size())});
  parameters_.push_back(id);
  if (mode_ == Mode::Tape) concrete_.resize(values_.size());
  return Array(std::make_shared<TracedArray>(shared_from_this(), id, std::move(abstract_value)));
}

bool Graph::owns(const Array& array) const {
  return array.is_traced() && traced(array).graph().get() == this;
}

ValueId Graph::value_of(const Array& array) {
  if (array.is_null()) {
    throw_value_error("trace",
                      "an array without a value is used; it was default-constructed and "
                      "never assigned");
  }
  if (array.is_traced()) {
    const TracedArray& value = traced(array);
    if (closed_ || value.graph()->is_closed()) throw_leaked(array.abstract_value());
    if (value.graph().get() == this) return value.id();
    if (!is_active(*value.graph())) throw_leaked(array.abstract_value());
  }
  const auto next = static_cast<ValueId>(values_.size());
  const auto [found, inserted] = constant_values_.try_emplace(array.impl().get(), next);
  if (!inserted) return found->second;
  values_.push_back({.abstract_value = array.abstract_value(),
                     .source = ValueInfo::Source::Constant,
                     .index = static_cast<std::uint32_t>(constants_.size())});
  constants_.push_back(array);
  if (mode_ == Mode::Tape) concrete_.resize(values_.size());
  return next;
}

std::vector<Array> Graph::add_node(std::shared_ptr<const Primitive> primitive,
                                   std::vector<ValueId> inputs, std::vector<AbstractValue> outputs,
                                   std::vector<Array> results) {
  if (closed_) {
    throw_value_error(primitive->name(),
                      "it is applied to a value of a trace that is over; a traced "
                      "function must return what is wanted of it");
  }
  const auto first = static_cast<ValueId>(values_.size());
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.primitive = std::move(primitive),
                    .inputs = std::move(inputs),
                    .first_output = first,
                    .num_outputs = static_cast<std::uint32_t>(outputs.size())});
  std::vector<Array> arrays;
  arrays.reserve(outputs.size());
  for (AbstractValue& output : outputs) {
    const auto id = static_cast<ValueId>(values_.size());
    values_.push_back(
        {.abstract_value = output, .source = ValueInfo::Source::Node, .index = index});
    arrays.emplace_back(std::make_shared<TracedArray>(shared_from_this(), id, std::move(output)));
  }
  if (mode_ == Mode::Tape) {
    for (Array& result : results) concrete_.push_back(std::move(result));
    concrete_.resize(values_.size());
  }
  return arrays;
}

Array Graph::array_of(ValueId id) {
  const ValueInfo& info = values_[id];
  if (info.source == ValueInfo::Source::Constant) return constants_[info.index];
  return Array(std::make_shared<TracedArray>(shared_from_this(), id, info.abstract_value));
}

const Array& Graph::concrete(ValueId id) const {
  const ValueInfo& info = values_[id];
  if (info.source == ValueInfo::Source::Constant) return constants_[info.index];
  if (mode_ == Mode::Recording || concrete_[id].is_null()) {
    throw_value_error("trace", "a value of type " + to_string(info.abstract_value) +
                                   " has no elements while its program is recorded");
  }
  return concrete_[id];
}

GraphScope::GraphScope(std::shared_ptr<Graph> graph) {
  graph_stack().push_back(std::move(graph));
}
GraphScope::~GraphScope() {
  graph_stack().pop_back();
}

const std::shared_ptr<Graph>& current_graph() {
  static const std::shared_ptr<Graph> none;
  const auto& stack = graph_stack();
  return stack.empty() ? none : stack.back();
}

bool is_active(const Graph& graph) {
  for (const auto& active : graph_stack()) {
    if (active.get() == &graph) return true;
  }
  return false;
}

const TracedArray& traced(const Array& array) {
  if (array.is_null() || !array.is_traced()) {
    throw_value_error("trace", "the array is not a value of a trace");
  }
  return static_cast<const TracedArray&>(*array.impl());
}

}  // namespace lockstep
