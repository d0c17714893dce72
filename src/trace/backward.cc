#include "trace/backward.h"

#include <algorithm>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/primitive.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

bool is_differentiable(DType dtype) {
  return is_floating(dtype) || is_complex(dtype);
}

// The stretch of values and nodes made since the inputs were marked.
struct Stretch {
  std::size_t first_node;
  std::size_t end_node;
  ValueId first_value;
  std::vector<bool> depends;  // by value - first_value: whether it depends on a marked input

  [[nodiscard]] bool tracks(ValueId id) const {
    return id >= first_value && depends[id - first_value];
  }
};

Stretch find_dependents(const Graph& graph, std::size_t first_node, std::size_t num_inputs) {
  Stretch stretch{.first_node = first_node,
                  .end_node = graph.nodes().size(),
                  .first_value = graph.nodes()[first_node].first_output,
                  .depends = {}};
  stretch.depends.resize(graph.num_values() - stretch.first_value, false);
  for (std::size_t n = first_node; n < stretch.end_node; ++n) {
    const Node& node = graph.nodes()[n];
    const bool depends = n < first_node + num_inputs ||
                         std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId input) { return stretch.tracks(input); });
    if (!depends) continue;
    for (ValueId id = node.first_output; id < node.first_output + node.num_outputs; ++id) {
      stretch.depends[id - stretch.first_value] =
          is_differentiable(graph.value(id).abstract_value.dtype);
    }
  }
  return stretch;
}

// A rule that gives a cotangent of another shape or type would end in an error far from its cause.
void check_cotangent(const Primitive& primitive, std::size_t input, const Array& cotangent,
                     const AbstractValue& value) {
  if (cotangent.shape() == value.shape && cotangent.dtype() == value.dtype) return;
  throw_value_error(primitive.name(), "its derivative rule gave a cotangent of type " +
                                          to_string(cotangent.abstract_value()) + " for operand " +
                                          std::to_string(input) + " of type " + to_string(value));
}

}  // namespace

std::vector<Array> mark_inputs(Graph& graph, std::span<const Array> inputs,
                               std::size_t& first_node) {
  first_node = graph.nodes().size();
  const bool on_tape = graph.mode() == Graph::Mode::Tape;
  std::vector<Array> marked;
  marked.reserve(inputs.size());
  std::vector<ValueId> ids;
  for (const Array& input : inputs) ids.push_back(graph.value_of(input));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<Array> results;
    if (on_tape) results.push_back(graph.concrete(ids[i]));
    marked.push_back(graph
                         .add_node(primitives::identity(), {ids[i]}, {inputs[i].abstract_value()},
                                   std::move(results))
                         .front());
  }
  return marked;
}

std::vector<Array> backward(Graph& graph, std::size_t first_node, std::size_t num_inputs,
                            ValueId output, const Array& seed, bool record) {
  std::vector<Array> gradients(num_inputs);
  if (num_inputs == 0) return gradients;
  const Stretch stretch = find_dependents(graph, first_node, num_inputs);
  if (!stretch.tracks(output)) return gradients;

  std::vector<Array> cotangents(stretch.depends.size());
  cotangents[output - stretch.first_value] = seed;
  const auto array_of = [&](ValueId id) {
    return record ? graph.array_of(id) : graph.concrete(id);
  };

  std::vector<Array> inputs;
  std::vector<Array> outputs;
  std::vector<Array> received;
  std::vector<bool> needed;
  for (std::size_t n = stretch.end_node; n-- > first_node + num_inputs;) {
    // A copy: recording the rule's ops may move the graph's nodes.
    const Node node = graph.nodes()[n];
    const auto first = cotangents.begin() + (node.first_output - stretch.first_value);
    received.assign(std::make_move_iterator(first),
                    std::make_move_iterator(first + node.num_outputs));
    if (std::all_of(received.begin(), received.end(),
                    [](const Array& array) { return array.is_null(); })) {
      continue;
    }
    inputs.clear();
    outputs.clear();
    needed.clear();
    for (const ValueId id : node.inputs) {
      inputs.push_back(array_of(id));
      needed.push_back(stretch.tracks(id));
    }
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      outputs.push_back(array_of(node.first_output + o));
    }
    std::vector<Array> given = node.primitive->vjp(
        {.inputs = inputs, .outputs = outputs, .cotangents = received, .needed = needed});
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!needed[i] || given[i].is_null()) continue;
      check_cotangent(*node.primitive, i, given[i], graph.value(node.inputs[i]).abstract_value);
      Array& sum = cotangents[node.inputs[i] - stretch.first_value];
      sum = add_cotangents(sum, given[i]);
    }
  }
  std::move(cotangents.begin(), cotangents.begin() + static_cast<std::ptrdiff_t>(num_inputs),
            gradients.begin());
  return gradients;
}

}  // namespace lockstep
