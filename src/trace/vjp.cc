#include "lockstep/trace/vjp.h"

#include <string>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/tree/algorithms.h"
#include "trace/backward.h"
#include "trace/differentiation.h"

namespace lockstep {
namespace {

// Cotangent leaves for the results' types: null where no derivative starts.
std::vector<Array> checked_cotangents(std::string_view where, const Tree& cotangent,
                                      const TreeStructure& structure,
                                      std::span<const AbstractValue> results) {
  const TreeStructure given = structure_of(cotangent);
  if (given != structure) {
    throw_value_error(where, "the cotangent is " + given.to_string() +
                                 ", but the function returned " + structure.to_string() +
                                 "; it must have the result's structure");
  }
  std::vector<Array> leaves = flatten(cotangent);
  const std::vector<KeyPath> paths = structure.leaf_paths();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!is_differentiable(results[i].dtype)) leaves[i] = Array();
    if (leaves[i].is_null()) continue;
    if (leaves[i].shape() == results[i].shape && leaves[i].dtype() == results[i].dtype) continue;
    throw_value_error(
        where, "the cotangent" + (paths[i].empty() ? "" : " at '" + to_string(paths[i]) + "'") +
                   " is " + to_string(leaves[i].abstract_value()) + ", but the result there is " +
                   to_string(results[i]) + "; shape and type must be the result's");
  }
  return leaves;
}

}  // namespace

TreeVjp tree_vjp(std::string_view where, const TreeFunction& function,
                 std::span<const Tree> arguments, std::span<const std::size_t> argnums) {
  const std::vector<Array> leaves = differentiated_leaves(where, arguments, argnums);
  DifferentiationScope scope;
  std::size_t first_node = 0;
  const std::vector<Array> marked = mark_inputs(scope.graph(), leaves, first_node);
  TreeVjp found;
  found.result = function(with_leaves(arguments, argnums, marked));
  std::vector<ValueId> outputs;
  std::vector<AbstractValue> results;
  for (const Array& leaf : flatten(found.result)) {
    outputs.push_back(scope.graph().value_of(leaf));
    results.push_back(leaf.abstract_value());
  }
  const Stretch stretch =
      leaves.empty() ? Stretch{} : find_dependents(scope.graph(), first_node, leaves.size());
  const TreeStructure structure = structure_of(found.result);
  found.result = scope.untracked(found.result);
  scope.finish();

  found.pullback =
      [where = std::string(where), graph = scope.shared_graph(), stretch, outputs, results,
       structure, leaves, records = scope.records(),
       trees = std::vector<Tree>(arguments.begin(), arguments.end()),
       argnums = std::vector<std::size_t>(argnums.begin(), argnums.end())](const Tree& cotangent) {
        std::vector<Array> found_cotangents =
            backward(*graph, stretch, outputs,
                     checked_cotangents(where, cotangent, structure, results), records);
        for (std::size_t i = 0; i < leaves.size(); ++i) {
          if (found_cotangents[i].is_null()) found_cotangents[i] = zeros_like(leaves[i]);
        }
        const std::vector<Tree> all = with_leaves(trees, argnums, found_cotangents);
        std::vector<Tree> wanted;
        for (const std::size_t argnum : argnums) wanted.push_back(all[argnum]);
        return wanted;
      };
  return found;
}

}  // namespace lockstep
