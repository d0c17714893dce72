#include "lockstep/optim/scale_by_lion.h"

#include <utility>

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation scale_by_lion(const ScaleByLionOptions& options) {
  const auto init = [options](const Tree& params) {
    return Tree{{"count", zero_count()}, {"mu", zeros_like(params, options.mu_dtype)}};
  };
  const auto update = [options](const Tree& updates, const Tree& state, const Tree&) {
    const Tree& old_mu = state_entry("scale_by_lion", state, "mu");
    check_like("scale_by_lion", "the moments", old_mu, "the updates", updates);
    Tree result =
        map_tree([&](const Array& g,
                     const Array& m) { return sign((1.0 - options.b1) * g + options.b1 * m); },
                 updates, old_mu);
    const Tree mu = update_moment(updates, old_mu, options.b2, 1);
    const Array count = increment(state_entry("scale_by_lion", state, "count").leaf());
    return std::pair(std::move(result), Tree{{"count", count}, {"mu", cast(mu, options.mu_dtype)}});
  };
  return {.init = init, .update = update};
}

}  // namespace lockstep::optim
