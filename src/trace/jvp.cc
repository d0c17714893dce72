#include "lockstep/trace/jvp.h"

#include <string>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/tree/algorithms.h"
#include "trace/differentiation.h"
#include "trace/flat.h"
#include "trace/stretch.h"

namespace lockstep {
namespace {

// The leaves of all arguments and their tangents.
struct Primals {
  std::vector<TreeStructure> structures;
  std::vector<Array> leaves;
  std::vector<Array> tangents;
};

void check_tangent(std::string_view where, const std::string& leaf_name, const Array& leaf,
                   const Array& tangent) {
  if (leaf.is_null()) throw_value_error(where, leaf_name + " has no value");
  if (!is_differentiable(leaf.dtype())) {
    throw_value_error(where, leaf_name + " is " + to_string(leaf.abstract_value()) +
                                 " and takes no tangent; only floating-point values have a "
                                 "derivative: leave its tangent null (Array())");
  }
  if (tangent.shape() != leaf.shape() || tangent.dtype() != leaf.dtype()) {
    throw_value_error(where, leaf_name + " is " + to_string(leaf.abstract_value()) +
                                 ", but its tangent is " + to_string(tangent.abstract_value()) +
                                 "; shape and type must be equal");
  }
}

Primals primals_of(std::string_view where, std::span<const Tree> arguments,
                   std::span<const Tree> tangents) {
  Primals primals;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const TreeStructure structure = structure_of(arguments[a]);
    if (const TreeStructure given = structure_of(tangents[a]); given != structure) {
      throw_value_error(where, "the tangent of argument " + std::to_string(a) + " is " +
                                   given.to_string() + ", but the argument " +
                                   structure.to_string() + "; they must have one structure");
    }
    const std::vector<Array> leaves = flatten(arguments[a]);
    const std::vector<Array> given = flatten(tangents[a]);
    const std::vector<KeyPath> paths = structure.leaf_paths();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (!given[i].is_null()) {
        check_tangent(where, describe_leaf(a, paths[i]), leaves[i], given[i]);
      }
      primals.leaves.push_back(leaves[i]);
      primals.tangents.push_back(given[i]);
    }
    primals.structures.push_back(structure);
  }
  return primals;
}

}  // namespace

TreeJvp tree_jvp(std::string_view where, const TreeFunction& function,
                 std::span<const Tree> arguments, std::span<const Tree> tangents) {
  const Primals primals = primals_of(where, arguments, tangents);
  TreeStructure structure;
  PushedForward pushed = push_forward(flat_function(function, primals.structures, structure),
                                      primals.leaves, primals.tangents);
  for (std::size_t i = 0; i < pushed.results.size(); ++i) {
    if (!pushed.tangents[i].is_null()) continue;
    pushed.tangents[i] = zeros(pushed.results[i].shape(), pushed.results[i].dtype());
  }
  return {.result = unflatten(structure, pushed.results),
          .tangent = unflatten(structure, pushed.tangents)};
}

}  // namespace lockstep
