#include "lockstep/trace/grad.h"

#include <optional>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/graph.h"
#include "lockstep/tree/algorithms.h"
#include "trace/backward.h"

namespace lockstep {
namespace {

// The leaves that are differentiated by, and where they are in the arguments.
std::vector<Array> differentiated_leaves(std::string_view where, std::span<const Tree> arguments,
                                         std::span<const std::size_t> argnums) {
  std::vector<Array> leaves;
  for (const std::size_t argnum : argnums) {
    if (argnum >= arguments.size()) {
      throw_value_error(where, "argnums names argument " + std::to_string(argnum) +
                                   ", but there are " + std::to_string(arguments.size()) +
                                   " (counted from 0)");
    }
    for_each_leaf(arguments[argnum], [&](const KeyPath& path, const Array& leaf) {
      const std::string at = path.empty() ? "" : " at '" + to_string(path) + "'";
      if (leaf.is_null()) {
        throw_value_error(where, "argument " + std::to_string(argnum) + at + " has no value");
      }
      if (!is_floating(leaf.dtype()) && !is_complex(leaf.dtype())) {
        throw_value_error(where, "argument " + std::to_string(argnum) + at + " is " +
                                     to_string(leaf.abstract_value()) +
                                     "; derivatives need floating-point inputs: convert it with "
                                     "astype, or leave it out of argnums");
      }
      leaves.push_back(leaf);
    });
  }
  return leaves;
}

// `arguments` with the differentiated ones made of `leaves`.
std::vector<Tree> with_leaves(std::span<const Tree> arguments, std::span<const std::size_t> argnums,
                              std::span<const Array> leaves) {
  std::vector<Tree> trees(arguments.begin(), arguments.end());
  for (const std::size_t argnum : argnums) {
    const TreeStructure structure = structure_of(arguments[argnum]);
    trees[argnum] = unflatten(structure, leaves.first(structure.num_leaves()));
    leaves = leaves.subspan(structure.num_leaves());
  }
  return trees;
}

const Array& checked_value(std::string_view where, const Tree& result, bool has_aux) {
  if (has_aux && (!result.is_list() || result.items().size() != 2)) {
    throw_value_error(where,
                      "a function with auxiliary output must return a list of two: the value "
                      "and the auxiliary tree; it returned " +
                          std::string(result.kind()));
  }
  const Tree& value = has_aux ? result.items()[0] : result;
  if (!value.is_leaf()) {
    throw_value_error(where, "the function returned " + std::string(value.kind()) +
                                 "; a gradient is of one scalar. Return other results as auxiliary "
                                 "output");
  }
  const Array& array = value.leaf();
  if (!array.shape().empty()) {
    const std::string hint = array.size() == 1 ? "; reshape it to shape ()"
                                               : "; reduce it first, e.g. "
                                                 "with sum or mean";
    throw_value_error(where, "a gradient is of a scalar, but the function returned " +
                                 to_string(array.abstract_value()) + hint);
  }
  if (!is_floating(array.dtype())) {
    throw_value_error(where,
                      "the function returned " + to_string(array.abstract_value()) +
                          "; a gradient needs a real floating-point result" +
                          (is_complex(array.dtype()) ? ", such as its real part or abs" : ""));
  }
  return array;
}

}  // namespace

TreeGradients differentiate(std::string_view where, const TreeFunction& function,
                            std::span<const Tree> arguments, std::span<const std::size_t> argnums,
                            bool has_aux) {
  const std::vector<Array> leaves = differentiated_leaves(where, arguments, argnums);
  // Inside a trace its graph records this too; outside, a tape of our own does.
  std::shared_ptr<Graph> graph = current_graph();
  const bool outermost = graph == nullptr;
  if (outermost) graph = std::make_shared<Graph>(Graph::Mode::Tape);

  TreeGradients found;
  std::vector<Array> gradients;
  {
    std::optional<GraphScope> scope;
    if (outermost) scope.emplace(graph);
    std::size_t first_node = 0;
    const std::vector<Array> marked = mark_inputs(*graph, leaves, first_node);
    found.result = function(with_leaves(arguments, argnums, marked));
    const Array value = checked_value(where, found.result, has_aux);
    const ValueId output = graph->value_of(value);
    gradients = backward(*graph, first_node, leaves.size(), output, ones({}, value.dtype()),
                         /*record=*/!outermost);
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (gradients[i].is_null()) gradients[i] = zeros_like(leaves[i]);
  }
  if (outermost) {
    // The tape ends here: what it tracked becomes plain arrays again.
    found.result = map_tree(
        [&](const Array& leaf) {
          return graph->owns(leaf) ? graph->concrete(traced(leaf).id()) : leaf;
        },
        found.result);
    graph->close();
  }
  std::vector<Tree> trees = with_leaves(arguments, argnums, gradients);
  for (const std::size_t argnum : argnums) found.gradients.push_back(std::move(trees[argnum]));
  return found;
}

}  // namespace lockstep
