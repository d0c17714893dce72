#include "trace/control_flow/carry.h"

#include <string>

#include "lockstep/base/error.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

Array as_type(const Array& array, const AbstractValue& type) {
  const AbstractValue value = array.abstract_value();
  if (value.dtype == type.dtype && value.weak_type == type.weak_type) return array;
  return apply_one(primitives::convert(type.dtype, type.weak_type), std::span(&array, 1));
}

}  // namespace

std::vector<Array> settled_carry(std::string_view where, std::span<const Array> init,
                                 const TreeStructure& structure, const CarryRule& rule) {
  std::vector<Array> carry(init.begin(), init.end());
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    const std::vector<AbstractValue> before = abstract_values(carry);
    const std::vector<AbstractValue> after = rule(before);
    for (std::size_t c = 0; c < carry.size(); ++c) {
      const bool same_shape = before[c].shape == after[c].shape;
      if (same_shape && before[c].dtype == after[c].dtype &&
          (after[c].weak_type || !before[c].weak_type)) {
        continue;
      }
      if (same_shape && before[c].weak_type) {
        carry[c] = as_type(carry[c], after[c]);
        has_changed = true;
        continue;
      }
      const KeyPath path = structure.leaf_paths()[c];
      throw_value_error(where, "the carry" + (path.empty() ? "" : " at '" + to_string(path) + "'") +
                                   " goes in as " + to_string(before[c]) + " and comes out as " +
                                   to_string(after[c]) +
                                   "; it must keep its shape and type: give the first one that "
                                   "type, or convert the result with astype");
    }
  }
  return carry;
}

std::vector<Array> as_types(std::span<const Array> results, std::span<const AbstractValue> types) {
  std::vector<Array> converted;
  for (std::size_t i = 0; i < results.size(); ++i) {
    converted.push_back(as_type(results[i], types[i]));
  }
  return converted;
}

void check_carry_structure(std::string_view where, const TreeStructure& before,
                           const TreeStructure& after) {
  if (before == after) return;
  throw_value_error(where, "the carry goes in as " + before.to_string() + " and comes out as " +
                               after.to_string() + "; it must keep its structure");
}

}  // namespace lockstep
