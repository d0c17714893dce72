#include "lockstep/optim/add_decayed_weights.h"

#include <utility>
#include <vector>

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {
namespace {

Tree decayed(const Tree& updates, const Tree& params, const Array& rate, const Mask& mask) {
  check_like("add_decayed_weights", "the parameters", params, "the updates", updates);
  const std::vector<Array> gradients = flatten(updates);
  std::size_t next = 0;
  return map_tree_with_path(
      [&](const KeyPath& path, const Array& p) {
        const Array& g = gradients[next++];
        return !mask || mask(path, p) ? g + rate * p : g;
      },
      params);
}

}  // namespace

GradientTransformation add_decayed_weights(const ScalarOrSchedule& weight_decay, Mask mask) {
  if (!weight_decay.is_schedule()) {
    const double rate = weight_decay.scalar();
    if (rate == 0.0) return identity();
    return stateless([rate, mask = std::move(mask)](const Tree& updates, const Tree& params) {
      return decayed(updates, params, rate, mask);
    });
  }
  return {.init =
              [](const Tree&) {
                return Tree{{"count", zero_count()}};
              },
          .update =
              [schedule = weight_decay.schedule(), mask = std::move(mask)](
                  const Tree& updates, const Tree& state, const Tree& params) {
                const Array count = state_entry("add_decayed_weights", state, "count").leaf();
                return std::pair(decayed(updates, params, schedule(count), mask),
                                 Tree{{"count", increment(count)}});
              }};
}

}  // namespace lockstep::optim
