// scan, while_loop and fori_loop over trees.
#include <algorithm>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/trace/control_flow.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "trace/control_flow/carry.h"
#include "trace/control_flow/scan.h"
#include "trace/control_flow/while_loop.h"
#include "trace/flat.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

// How many steps `xs` and the options ask for.
std::int64_t scan_length(const Tree& xs, const ScanOptions& options) {
  std::optional<std::int64_t> length = options.length;
  std::string length_from = "length";
  if (length && *length < 0) {
    throw_value_error("scan", "length is " + std::to_string(*length) + "; it must not be negative");
  }
  for_each_leaf(xs, [&](const KeyPath& path, const Array& leaf) {
    const std::string name = path.empty() ? "xs" : "xs at '" + to_string(path) + "'";
    if (leaf.is_null()) throw_value_error("scan", name + " has no value");
    if (leaf.ndim() == 0) {
      throw_value_error("scan", name + " is " + to_string(leaf.abstract_value()) +
                                    "; a scan goes along axis 0, which it does not have");
    }
    if (length && *length != leaf.shape()[0]) {
      throw_value_error("scan", name + " has length " + std::to_string(leaf.shape()[0]) +
                                    " along axis 0, but " + length_from + " is " +
                                    std::to_string(*length) + "; all must be equal");
    }
    if (!length) length_from = "that of " + name;
    length = leaf.shape()[0];
  });
  if (!length) {
    throw_value_error("scan", "there are no xs and no length; give ScanOptions::length");
  }
  if (options.unroll < 1) {
    throw_value_error("scan",
                      "unroll is " + std::to_string(options.unroll) + "; it must be at least 1");
  }
  return *length;
}

void check_leaves(std::string_view where, const Tree& init) {
  for_each_leaf(init, [&](const KeyPath& path, const Array& leaf) {
    if (!leaf.is_null()) return;
    throw_value_error(where, "the carry" + (path.empty() ? "" : " at '" + to_string(path) + "'") +
                                 " has no value");
  });
}

}  // namespace

TreeScan tree_scan(const TreeFunction& body, const Tree& init, const Tree& xs,
                   const ScanOptions& options) {
  const std::int64_t length = scan_length(xs, options);
  check_leaves("scan", init);
  const std::vector<TreeStructure> structures = {structure_of(init), structure_of(xs)};
  const std::vector<Array> x_leaves = flatten(xs);
  TreeStructure y_structure;
  // The body over leaves; the carries' types are as it gives them.
  const FlatFunction step = [&](std::span<const Array> leaves) {
    const Tree result = body(unflatten_all(structures, leaves));
    if (!result.is_list() || result.items().size() != 2) {
      throw_value_error("scan", "the body returned " + std::string(result.kind()) +
                                    "; it must return two trees, the carry and y");
    }
    check_carry_structure("scan", structures[0], structure_of(result.items()[0]));
    y_structure = structure_of(result.items()[1]);
    return flatten_all(result.items());
  };
  std::vector<AbstractValue> element_values = abstract_values(x_leaves);
  for (AbstractValue& value : element_values) value.shape.erase(value.shape.begin());
  const std::vector<Array> carry = settled_carry(
      "scan", flatten(init), structures[0], [&](std::span<const AbstractValue> before) {
        std::vector<AbstractValue> arguments(before.begin(), before.end());
        arguments.insert(arguments.end(), element_values.begin(), element_values.end());
        return eval_shape(step, arguments);
      });
  const std::vector<AbstractValue> types = abstract_values(carry);
  const FlatFunction typed_step = [&](std::span<const Array> leaves) {
    const std::vector<Array> results = step(leaves);
    std::vector<Array> typed = as_types(std::span(results).first(types.size()), types);
    typed.insert(typed.end(), results.begin() + static_cast<std::ptrdiff_t>(types.size()),
                 results.end());
    return typed;
  };
  const ScanResults found =
      flat_scan(typed_step, carry, x_leaves,
                {.length = length, .reverse = options.reverse, .unroll = options.unroll});
  return {.carry = unflatten(structures[0], found.carry), .ys = unflatten(y_structure, found.ys)};
}

Tree tree_while_loop(const TreeFunction& condition, const TreeFunction& body, const Tree& init) {
  check_leaves("while_loop", init);
  const std::vector<TreeStructure> structures = {structure_of(init)};
  const FlatFunction flat_condition = [&](std::span<const Array> leaves) {
    const Tree result = condition(unflatten_all(structures, leaves));
    if (!result.is_leaf() || result.leaf().is_null() || !result.leaf().shape().empty() ||
        result.leaf().dtype() != DType::Bool) {
      throw_value_error(
          "while_loop",
          "the condition returned " +
              (result.is_leaf() && !result.leaf().is_null()
                   ? to_string(result.leaf().abstract_value())
                   : std::string(result.kind())) +
              "; it must return a scalar bool, such as a comparison, any(...) or all(...)");
    }
    return std::vector<Array>{result.leaf()};
  };
  const FlatFunction flat_body = [&](std::span<const Array> leaves) {
    const Tree result = body(unflatten_all(structures, leaves));
    check_carry_structure("while_loop", structures[0], structure_of(result));
    return flatten(result);
  };
  const std::vector<Array> carry = settled_carry(
      "while_loop", flatten(init), structures[0],
      [&](std::span<const AbstractValue> before) { return eval_shape(flat_body, before); });
  const std::vector<AbstractValue> types = abstract_values(carry);
  const FlatFunction typed_body = [&](std::span<const Array> leaves) {
    return as_types(flat_body(leaves), types);
  };
  return unflatten(structures[0], flat_while(flat_condition, typed_body, carry));
}

Tree tree_fori_loop(const Array& lower, const Array& upper, const TreeFunction& body,
                    const Tree& init) {
  for (const auto& [bound, what] : {std::pair(&lower, "lower"), std::pair(&upper, "upper")}) {
    if (!bound->is_null() && bound->shape().empty() && is_integer(bound->dtype())) continue;
    throw_value_error("fori_loop",
                      "the " + std::string(what) + " bound is " +
                          (bound->is_null() ? "null" : to_string(bound->abstract_value())) +
                          "; it must be an integer scalar");
  }
  if (lower.is_traced() || upper.is_traced()) {
    const TreeFunction condition = [](std::span<const Tree> trees) -> Tree {
      return trees[0].items()[0].leaf() < trees[0].items()[1].leaf();
    };
    const TreeFunction step = [&](std::span<const Tree> trees) -> Tree {
      const std::vector<Tree>& state = trees[0].items();
      const std::vector<Tree> arguments = {state[0], state[2]};
      return Tree::List{state[0].leaf() + 1, state[1], body(arguments)};
    };
    return tree_while_loop(condition, step, Tree::List{lower, upper, init}).items()[2];
  }
  const auto first = Array(cast(lower.to_host(), DType::Int64)).item<std::int64_t>();
  const auto last = Array(cast(upper.to_host(), DType::Int64)).item<std::int64_t>();
  const std::int64_t length = std::max<std::int64_t>(0, last - first);
  const DType dtype = lower.dtype() == upper.dtype()     ? lower.dtype()
                      : lower.abstract_value().weak_type ? upper.dtype()
                                                         : lower.dtype();
  const TreeFunction step = [&](std::span<const Tree> trees) -> Tree {
    const std::vector<Tree> arguments = {trees[1], trees[0]};
    return Tree::List{body(arguments), Tree()};
  };
  return tree_scan(step, init, arange(first, first + length, 1, dtype), {.length = length}).carry;
}

}  // namespace lockstep
