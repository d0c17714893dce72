#include "lockstep/optim/ema.h"

#include <utility>

#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation ema(double decay, const EmaOptions& options) {
  const auto init = [options](const Tree& params) {
    return Tree{{"count", zero_count()}, {"ema", zeros_like(params, options.accumulator_dtype)}};
  };
  const auto update = [decay, options](const Tree& updates, const Tree& state, const Tree&) {
    const Tree& old_ema = state_entry("ema", state, "ema");
    check_like("ema", "the averages", old_ema, "the updates", updates);
    const Tree average = update_moment(updates, old_ema, decay, 1);
    const Array count = increment(state_entry("ema", state, "count").leaf());
    Tree result = average;
    if (options.debias) {
      const Array correction = bias_correction(decay, count);
      result = map_tree([&](const Array& a) { return corrected(a, correction); }, average);
    }
    return std::pair(std::move(result),
                     Tree{{"count", count}, {"ema", cast(average, options.accumulator_dtype)}});
  };
  return {.init = init, .update = update};
}

}  // namespace lockstep::optim
