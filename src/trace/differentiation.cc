#include "trace/differentiation.h"

#include <string>

#include "lockstep/base/error.h"
#include "lockstep/tree/algorithms.h"
#include "trace/backward.h"
#include "trace/forward.h"
#include "trace/stretch.h"

namespace lockstep {

DifferentiationScope::DifferentiationScope()
    : is_outermost_(current_graph() == nullptr), graph_(current_graph()) {
  if (!is_outermost_) return;
  graph_ = std::make_shared<Graph>(Graph::Mode::Tape);
  scope_.emplace(graph_);
}

Array DifferentiationScope::untracked(const Array& array) const {
  if (!is_outermost_ || array.is_null() || !graph_->owns(array)) return array;
  return graph_->concrete(traced(array).id());
}

Tree DifferentiationScope::untracked(const Tree& tree) const {
  if (!is_outermost_) return tree;
  return map_tree([this](const Array& leaf) { return untracked(leaf); }, tree);
}

void DifferentiationScope::finish() {
  if (!is_outermost_) return;
  scope_.reset();
  graph_->close();
}

namespace {

// `inputs`, those at `places` replaced.
std::vector<Array> with_replaced(std::span<const Array> inputs,
                                 const std::vector<std::size_t>& places,
                                 std::span<const Array> replacements) {
  std::vector<Array> all(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < places.size(); ++i) all[places[i]] = replacements[i];
  return all;
}

std::vector<Array> picked(std::span<const Array> arrays, const std::vector<std::size_t>& places) {
  std::vector<Array> found;
  for (const std::size_t place : places) found.push_back(arrays[place]);
  return found;
}

}  // namespace

PushedForward push_forward(const FlatFunction& function, std::span<const Array> inputs,
                           std::span<const Array> tangents) {
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!tangents[i].is_null()) moving.push_back(i);
  }
  DifferentiationScope scope;
  std::size_t first_node = 0;
  const std::vector<Array> marked = mark_inputs(scope.graph(), picked(inputs, moving), first_node);
  PushedForward found{.results = function(with_replaced(inputs, moving, marked)), .tangents = {}};
  found.tangents.resize(found.results.size());
  if (!moving.empty()) {
    std::vector<ValueId> outputs;
    for (const Array& result : found.results) outputs.push_back(scope.graph().value_of(result));
    found.tangents =
        forward(scope.graph(), find_dependents(scope.graph(), first_node, moving.size()),
                picked(tangents, moving), outputs, scope.records());
  }
  for (Array& result : found.results) result = scope.untracked(result);
  scope.finish();
  return found;
}

std::vector<Array> pull_back(const FlatFunction& function, std::span<const Array> inputs,
                             const std::vector<bool>& needed, std::span<const Array> cotangents) {
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (needed[i]) moving.push_back(i);
  }
  std::vector<Array> found(inputs.size());
  if (moving.empty()) return found;
  DifferentiationScope scope;
  std::size_t first_node = 0;
  const std::vector<Array> marked = mark_inputs(scope.graph(), picked(inputs, moving), first_node);
  std::vector<ValueId> outputs;
  for (const Array& result : function(with_replaced(inputs, moving, marked))) {
    outputs.push_back(scope.graph().value_of(result));
  }
  return with_replaced(
      found, moving,
      backward(scope.graph(), find_dependents(scope.graph(), first_node, moving.size()), outputs,
               cotangents, scope.records()));
}

std::string describe_leaf(std::size_t argument, const KeyPath& path) {
  return "argument " + std::to_string(argument) +
         (path.empty() ? "" : " at '" + to_string(path) + "'");
}

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
      if (leaf.is_null()) {
        throw_value_error(where, describe_leaf(argnum, path) + " has no value");
      }
      if (!is_differentiable(leaf.dtype())) {
        throw_value_error(where, describe_leaf(argnum, path) + " is " +
                                     to_string(leaf.abstract_value()) +
                                     "; derivatives need floating-point inputs: convert it with "
                                     "astype, or leave it out of argnums");
      }
      leaves.push_back(leaf);
    });
  }
  return leaves;
}

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

}  // namespace lockstep
