#include "lockstep/optim/scale_by_rss.h"

#include <utility>

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation scale_by_rss(const ScaleByRssOptions& options) {
  const auto init = [options](const Tree& params) {
    return Tree{{"sum_of_squares", full_like(params, options.initial_accumulator_value)}};
  };
  const auto update = [options](const Tree& updates, const Tree& state, const Tree&) {
    const Tree& old_sum = state_entry("scale_by_rss", state, "sum_of_squares");
    check_like("scale_by_rss", "the sums of squares", old_sum, "the updates", updates);
    const Tree new_sum =
        map_tree([](const Array& g, const Array& t) { return square(g) + t; }, updates, old_sum);
    Tree result =
        map_tree([&](const Array& t,
                     const Array& g) { return where(t > 0.0, rsqrt(t + options.eps), 0.0) * g; },
                 new_sum, updates);
    return std::pair(std::move(result), Tree{{"sum_of_squares", new_sum}});
  };
  return {.init = init, .update = update};
}

}  // namespace lockstep::optim
