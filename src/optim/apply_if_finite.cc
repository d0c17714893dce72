#include "lockstep/optim/apply_if_finite.h"

#include <cstdint>
#include <utility>

#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation apply_if_finite(GradientTransformation inner,
                                       std::int64_t max_consecutive_errors) {
  const auto init = [inner](const Tree& params) {
    return Tree{{"inner_state", inner.init(params)},
                {"last_finite", Array(HostTensor::scalar<bool>(true))},
                {"notfinite_count", zero_count()},
                {"total_notfinite", zero_count()}};
  };
  const auto update = [inner, max_consecutive_errors](const Tree& updates, const Tree& state,
                                                      const Tree& params) {
    const Tree& old_inner = state_entry("apply_if_finite", state, "inner_state");
    const Array old_count = state_entry("apply_if_finite", state, "notfinite_count").leaf();
    const Array old_total = state_entry("apply_if_finite", state, "total_notfinite").leaf();
    Array is_finite = HostTensor::scalar<bool>(true);
    for (const Array& g : flatten(updates)) is_finite = logical_and(is_finite, all(isfinite(g)));
    const Array count = where(is_finite, zeros_like(old_count), increment(old_count));
    const Array is_applied = logical_or(is_finite, count > max_consecutive_errors);

    // Both outcomes are computed and one is chosen: cheaper than a branch for elementwise work, and
    // it stays one program under partitioning.
    auto [inner_updates, new_inner] = inner.update(updates, old_inner, params);
    const auto choose = [&](const Array& applied, const Array& rejected) {
      return where(is_applied, applied, rejected);
    };
    Tree result =
        map_tree([&](const Array& u) { return choose(u, lockstep::zeros_like(u)); }, inner_updates);
    return std::pair(std::move(result),
                     Tree{{"inner_state", map_tree(choose, new_inner, old_inner)},
                          {"last_finite", is_finite},
                          {"notfinite_count", count},
                          {"total_notfinite", where(is_finite, old_total, increment(old_total))}});
  };
  return {.init = init, .update = update};
}

}  // namespace lockstep::optim
