#include "lockstep/optim/scale.h"

#include <utility>

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation scale(double step_size) {
  return stateless([step_size](const Tree& updates, const Tree&) {
    return map_tree([step_size](const Array& g) { return step_size * g; }, updates);
  });
}

GradientTransformation scale_by_schedule(Schedule schedule) {
  return {
      .init =
          [](const Tree&) {
            return Tree{{"count", zero_count()}};
          },
      .update =
          [schedule = std::move(schedule)](const Tree& updates, const Tree& state, const Tree&) {
            const Array count = state_entry("scale_by_schedule", state, "count").leaf();
            const Array step_size = schedule(count);
            Tree scaled =
                map_tree([&](const Array& g) { return astype(step_size, g.dtype()) * g; }, updates);
            return std::pair(std::move(scaled), Tree{{"count", increment(count)}});
          }};
}

GradientTransformation scale_by_learning_rate(const ScalarOrSchedule& learning_rate,
                                              const ScaleByLearningRateOptions& options) {
  const double sign = options.flip_sign ? -1.0 : 1.0;
  if (!learning_rate.is_schedule()) return scale(sign * learning_rate.scalar());
  return scale_by_schedule([sign, schedule = learning_rate.schedule()](const Array& count) {
    return sign * schedule(count);
  });
}

}  // namespace lockstep::optim
