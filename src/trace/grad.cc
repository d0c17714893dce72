#include "lockstep/trace/grad.h"

#include <string>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "trace/backward.h"
#include "trace/differentiation.h"

namespace lockstep {
namespace {

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
  DifferentiationScope scope;
  std::size_t first_node = 0;
  const std::vector<Array> marked = mark_inputs(scope.graph(), leaves, first_node);
  TreeGradients found;
  found.result = function(with_leaves(arguments, argnums, marked));
  const Array value = checked_value(where, found.result, has_aux);
  std::vector<Array> gradients;
  if (!leaves.empty()) {
    const ValueId output = scope.graph().value_of(value);
    const Array seed = ones({}, value.dtype());
    gradients = backward(scope.graph(), find_dependents(scope.graph(), first_node, leaves.size()),
                         std::span(&output, 1), std::span(&seed, 1), scope.records());
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (gradients[i].is_null()) gradients[i] = zeros_like(leaves[i]);
  }
  found.result = scope.untracked(found.result);
  scope.finish();
  std::vector<Tree> trees = with_leaves(arguments, argnums, gradients);
  for (const std::size_t argnum : argnums) found.gradients.push_back(std::move(trees[argnum]));
  return found;
}

}  // namespace lockstep
