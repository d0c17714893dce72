// cond and switch_ over trees.
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/trace/control_flow.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "trace/control_flow/carry.h"
#include "trace/control_flow/conditional.h"
#include "trace/flat.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

// The types that all branches can give: a weak one follows the others.
std::vector<AbstractValue> common_types(std::string_view where,
                                        const std::vector<std::vector<AbstractValue>>& results,
                                        const TreeStructure& structure) {
  std::vector<AbstractValue> types = results[0];
  for (std::size_t o = 0; o < types.size(); ++o) {
    for (const std::vector<AbstractValue>& branch : results) {
      if (types[o].weak_type && !branch[o].weak_type) types[o] = branch[o];
    }
    for (std::size_t b = 0; b < results.size(); ++b) {
      const AbstractValue& found = results[b][o];
      if (found.shape == types[o].shape && (found.dtype == types[o].dtype || found.weak_type)) {
        continue;
      }
      const KeyPath path = structure.leaf_paths()[o];
      throw_value_error(where, "branch " + std::to_string(b) + " gives " + to_string(found) +
                                   (path.empty() ? "" : " at '" + to_string(path) + "'") +
                                   ", another branch " + to_string(types[o]) +
                                   "; all branches must give the same shapes and types: convert "
                                   "with astype, or broadcast");
    }
  }
  return types;
}

Tree switched(std::string_view where, const Array& index, std::span<const TreeFunction> branches,
              std::span<const Tree> operands) {
  const std::vector<TreeStructure> structures = structures_of(operands);
  const std::vector<Array> leaves = flatten_all(operands);
  const std::vector<AbstractValue> values = abstract_values(leaves);
  std::vector<TreeStructure> results(branches.size());
  std::vector<FlatFunction> functions;
  std::vector<std::vector<AbstractValue>> result_values;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    functions.push_back(flat_function(branches[b], structures, results[b]));
    result_values.push_back(eval_shape(functions[b], values));
    if (results[b] == results[0]) continue;
    throw_value_error(where, "branch " + std::to_string(b) + " gives " + results[b].to_string() +
                                 ", branch 0 " + results[0].to_string() +
                                 "; all branches must give the same structure");
  }
  const std::vector<AbstractValue> types = common_types(where, result_values, results[0]);
  std::vector<FlatFunction> typed;
  for (const FlatFunction& function : functions) {
    typed.push_back([&function, &types](std::span<const Array> arguments) {
      return as_types(function(arguments), types);
    });
  }
  return unflatten(results[0], flat_switch(index, typed, leaves));
}

}  // namespace

Tree tree_switch(const Array& index, std::span<const TreeFunction> branches,
                 std::span<const Tree> operands) {
  if (branches.empty()) throw_value_error("switch_", "there are no branches; give at least one");
  if (index.is_null() || !index.shape().empty() || !is_integer(index.dtype())) {
    throw_value_error("switch_",
                      "the index is " +
                          (index.is_null() ? "null" : to_string(index.abstract_value())) +
                          "; it must be an integer scalar");
  }
  if (branches.size() == 1) return branches[0](operands);
  const auto last = static_cast<std::int32_t>(branches.size() - 1);
  const Array bounded = minimum(maximum(index, zeros_like(index)), full_like(index, last));
  return switched("switch_", astype(bounded, DType::Int32), branches, operands);
}

Tree tree_cond(const Array& predicate, const TreeFunction& when_true,
               const TreeFunction& when_false, std::span<const Tree> operands) {
  if (predicate.is_null() || !predicate.shape().empty() || is_complex(predicate.dtype())) {
    throw_value_error("cond",
                      "the predicate is " +
                          (predicate.is_null() ? "null" : to_string(predicate.abstract_value())) +
                          "; it must be a scalar bool: reduce it with any or all, or choose "
                          "element by element with where");
  }
  const Array holds = predicate.dtype() == DType::Bool ? predicate : predicate != 0;
  const std::vector<TreeFunction> branches = {when_false, when_true};
  return switched("cond", astype(holds, DType::Int32), branches, operands);
}

}  // namespace lockstep
