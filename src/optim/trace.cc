#include "lockstep/optim/trace.h"

#include <utility>

#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation trace(double decay, const TraceOptions& options) {
  const auto init = [options](const Tree& params) {
    return Tree{{"trace", zeros_like(params, options.accumulator_dtype)}};
  };
  const auto update = [decay, options](const Tree& updates, const Tree& state, const Tree&) {
    const Tree& old_trace = state_entry("trace", state, "trace");
    check_like("trace", "the trace", old_trace, "the updates", updates);
    const auto accumulate = [decay](const Array& g, const Array& t) { return g + decay * t; };
    const Tree new_trace = map_tree(accumulate, updates, old_trace);
    Tree result = options.nesterov ? map_tree(accumulate, updates, new_trace) : new_trace;
    return std::pair(std::move(result),
                     Tree{{"trace", cast(new_trace, options.accumulator_dtype)}});
  };
  return {.init = init, .update = update};
}

}  // namespace lockstep::optim
