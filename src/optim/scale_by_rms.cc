#include "lockstep/optim/scale_by_rms.h"

#include <utility>

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {
namespace {

// 1 / (sqrt(x) + eps), or 1 / sqrt(x + eps), times g.
Array rescaled(const Array& x, const Array& g, const ScaleByRmsOptions& options) {
  return (options.eps_in_sqrt ? rsqrt(x + options.eps) : 1.0 / (sqrt(x) + options.eps)) * g;
}

}  // namespace

GradientTransformation scale_by_rms(const ScaleByRmsOptions& options) {
  const auto init = [options](const Tree& params) {
    Tree state{{"nu", full_like(params, options.initial_scale)}};
    if (options.bias_correction) state["count"] = zero_count();
    return state;
  };
  const auto update = [options](const Tree& updates, const Tree& state, const Tree&) {
    const Tree& old_nu = state_entry("scale_by_rms", state, "nu");
    check_like("scale_by_rms", "the moments", old_nu, "the updates", updates);
    Tree new_state{{"nu", update_moment(updates, old_nu, options.decay, 2)}};
    Array correction;
    if (options.bias_correction) {
      const Array count = increment(state_entry("scale_by_rms", state, "count").leaf());
      correction = bias_correction(options.decay, count);
      new_state["count"] = count;
    }
    Tree result = map_tree(
        [&](const Array& v, const Array& g) {
          return rescaled(options.bias_correction ? corrected(v, correction) : v, g, options);
        },
        std::as_const(new_state)["nu"], updates);
    return std::pair(std::move(result), std::move(new_state));
  };
  return {.init = init, .update = update};
}

GradientTransformation scale_by_stddev(const ScaleByRmsOptions& options) {
  const auto init = [options](const Tree& params) {
    Tree state{{"mu", zeros_like(params)}, {"nu", full_like(params, options.initial_scale)}};
    if (options.bias_correction) state["count"] = zero_count();
    return state;
  };
  const auto update = [options](const Tree& updates, const Tree& state, const Tree&) {
    const Tree& old_mu = state_entry("scale_by_stddev", state, "mu");
    const Tree& old_nu = state_entry("scale_by_stddev", state, "nu");
    check_like("scale_by_stddev", "the moments", old_mu, "the updates", updates);
    Tree new_state{{"mu", update_moment(updates, old_mu, options.decay, 1)},
                   {"nu", update_moment(updates, old_nu, options.decay, 2)}};
    Array correction;
    if (options.bias_correction) {
      const Array count = increment(state_entry("scale_by_stddev", state, "count").leaf());
      correction = bias_correction(options.decay, count);
      new_state["count"] = count;
    }
    const auto hat = [&](const Array& moment) {
      return options.bias_correction ? corrected(moment, correction) : moment;
    };
    Tree result =
        map_tree([&](const Array& m, const Array& v,
                     const Array& g) { return rescaled(hat(v) - square(hat(m)), g, options); },
                 std::as_const(new_state)["mu"], std::as_const(new_state)["nu"], updates);
    return std::pair(std::move(result), std::move(new_state));
  };
  return {.init = init, .update = update};
}

}  // namespace lockstep::optim
