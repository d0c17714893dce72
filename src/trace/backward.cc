#include "trace/backward.h"

#include <algorithm>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/primitive.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

// A rule that gives a cotangent of another shape or type would end in an error far from its cause.
void check_cotangent(const Primitive& primitive, std::size_t input, const Array& cotangent,
                     const AbstractValue& value) {
  if (cotangent.shape() == value.shape && cotangent.dtype() == value.dtype) return;
  throw_value_error(primitive.name(), "its derivative rule gave a cotangent of type " +
                                          to_string(cotangent.abstract_value()) + " for operand " +
                                          std::to_string(input) + " of type " + to_string(value));
}

}  // namespace

std::vector<Array> backward(Graph& graph, const Stretch& stretch, std::span<const ValueId> outputs,
                            std::span<const Array> output_cotangents, bool record) {
  std::vector<Array> cotangents(stretch.depends.size());
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (!stretch.tracks(outputs[o]) || output_cotangents[o].is_null()) continue;
    Array& sum = cotangents[outputs[o] - stretch.first_value];
    sum = add_cotangents(sum, output_cotangents[o]);
  }
  const auto array_of = [&](ValueId id) {
    return record ? graph.array_of(id) : graph.concrete(id);
  };

  std::vector<Array> inputs;
  std::vector<Array> results;
  std::vector<Array> received;
  std::vector<bool> needed;
  for (std::size_t n = stretch.end_node; n-- > stretch.first_node + stretch.num_marked;) {
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
    results.clear();
    needed.clear();
    for (const ValueId id : node.inputs) {
      inputs.push_back(array_of(id));
      needed.push_back(stretch.tracks(id));
    }
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      results.push_back(array_of(node.first_output + o));
    }
    std::vector<Array> given = node.primitive->vjp(
        {.inputs = inputs, .outputs = results, .cotangents = received, .needed = needed});
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!needed[i] || given[i].is_null()) continue;
      // A rule that differentiates for itself does so on this tape.
      if (!record && graph.owns(given[i])) given[i] = graph.concrete(traced(given[i]).id());
      check_cotangent(*node.primitive, i, given[i], graph.value(node.inputs[i]).abstract_value);
      Array& sum = cotangents[node.inputs[i] - stretch.first_value];
      sum = add_cotangents(sum, given[i]);
    }
  }
  cotangents.resize(stretch.num_marked);
  return cotangents;
}

}  // namespace lockstep
