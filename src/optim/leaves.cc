#include "optim/leaves.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep::optim {

void check_like(std::string_view where, std::string_view expected_name, const Tree& expected,
                std::string_view found_name, const Tree& found) {
  const TreeStructure structure = structure_of(expected);
  check_same_structure(fmt::format("{}: {} against {}", where, found_name, expected_name),
                       structure, structure_of(found));
  const std::vector<Array> wanted = flatten(expected);
  const std::vector<Array> given = flatten(found);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].shape() == given[i].shape()) continue;
    throw_value_error(
        where,
        fmt::format("{} and {} differ in shape at '{}': {} against {}; they must be trees of "
                    "one structure with equal shapes",
                    found_name, expected_name, to_string(structure.leaf_paths()[i]),
                    to_string(given[i].shape()), to_string(wanted[i].shape())));
  }
}

const Tree& state_entry(std::string_view where, const Tree& state, std::string_view name) {
  if (state.contains(name)) return state[name];
  throw_value_error(where,
                    fmt::format("the state has no entry '{}', it is {}; make it with the init "
                                "of the same transformation",
                                name, structure_of(state).to_string()));
}

Array zero_count() {
  return HostTensor::scalar<std::int32_t>(0);
}

Array increment(const Array& count) {
  return minimum(count, std::numeric_limits<std::int32_t>::max() - 1) + 1;
}

Tree zeros_like(const Tree& tree, std::optional<DType> dtype) {
  return map_tree([dtype](const Array& leaf) { return lockstep::zeros_like(leaf, dtype); }, tree);
}

Tree full_like(const Tree& tree, double value) {
  return map_tree([value](const Array& leaf) { return lockstep::full_like(leaf, value); }, tree);
}

Tree cast(const Tree& tree, std::optional<DType> dtype) {
  if (!dtype) return tree;
  return map_tree([dtype](const Array& leaf) { return astype(leaf, *dtype); }, tree);
}

Tree update_moment(const Tree& updates, const Tree& moment, double decay, int order) {
  return map_tree(
      [decay, order](const Array& g, const Array& t) {
        return (1.0 - decay) * (order == 2 ? square(g) : g) + decay * t;
      },
      updates, moment);
}

Array bias_correction(double decay, const Array& count) {
  return 1.0 - power(Array(decay), count);
}

Array corrected(const Array& leaf, const Array& correction) {
  return leaf / astype(correction, leaf.dtype());
}

}  // namespace lockstep::optim
