#include "lockstep/optim/scale_by_adam.h"

#include <utility>

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation scale_by_adam(const ScaleByAdamOptions& options) {
  const auto init = [options](const Tree& params) {
    return Tree{{"count", zero_count()},
                {"mu", zeros_like(params, options.mu_dtype)},
                {"nu", zeros_like(params)}};
  };
  const auto update = [options](const Tree& updates, const Tree& state, const Tree&) {
    const Tree& old_mu = state_entry("scale_by_adam", state, "mu");
    const Tree& old_nu = state_entry("scale_by_adam", state, "nu");
    check_like("scale_by_adam", "the moments", old_mu, "the updates", updates);
    const Tree mu = update_moment(updates, old_mu, options.b1, 1);
    const Tree nu = update_moment(updates, old_nu, options.b2, 2);
    const Array count = increment(state_entry("scale_by_adam", state, "count").leaf());

    const Array correction1 = bias_correction(options.b1, count);
    const Array correction2 = bias_correction(options.b2, count);
    const Array next_correction1 =
        options.nesterov ? bias_correction(options.b1, increment(count)) : Array();
    const auto first_moment = [&](const Array& m, const Array& g) {
      if (!options.nesterov) return corrected(m, correction1);
      return options.b1 * corrected(m, next_correction1) +
             (1.0 - options.b1) * corrected(g, correction1);
    };
    Tree result = map_tree(
        [&](const Array& m, const Array& v, const Array& g) {
          const Array v_hat = corrected(v, correction2);
          // Adding a zero would only make the program longer.
          const Array radicand = options.eps_root == 0.0 ? v_hat : v_hat + options.eps_root;
          return first_moment(m, g) / (sqrt(radicand) + options.eps);
        },
        mu, nu, updates);
    // The second moment keeps its type, also where the gradients have a wider one.
    Tree kept_nu = map_tree(
        [](const Array& v, const Array& old) {
          return v.dtype() == old.dtype() ? v : astype(v, old.dtype());
        },
        nu, old_nu);
    return std::pair(
        std::move(result),
        Tree{{"count", count}, {"mu", cast(mu, options.mu_dtype)}, {"nu", std::move(kept_nu)}});
  };
  return {.init = init, .update = update};
}

}  // namespace lockstep::optim
