#pragma once
/// Schedules: hyperparameters as functions of the step, as in Optax.
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep::optim {

/// The value at a step: from an int32 array of step counts (the first step has 0), usually a
/// scalar, to a floating array of the same shape. Made of ops, so it may run inside the compiled
/// step.
using Schedule = std::function<Array(const Array& count)>;

/// A number, or a schedule for it.
class ScalarOrSchedule {
 public:
  ScalarOrSchedule(double value) : value_(value) {}  // NOLINT: a number is the simplest schedule
  template <class Function>
    requires(std::is_class_v<std::remove_cvref_t<Function>> &&
             !std::same_as<std::remove_cvref_t<Function>, ScalarOrSchedule> &&
             std::is_invocable_r_v<Array, Function&, const Array&>)
  ScalarOrSchedule(Function schedule)  // NOLINT
      : value_(Schedule(std::move(schedule))) {}

  [[nodiscard]] bool is_schedule() const { return std::holds_alternative<Schedule>(value_); }
  /// The number or the schedule; only for what it is.
  [[nodiscard]] double scalar() const { return std::get<double>(value_); }
  [[nodiscard]] const Schedule& schedule() const { return std::get<Schedule>(value_); }

 private:
  std::variant<double, Schedule> value_;
};

/// `value` at every step.
[[nodiscard]] Schedule constant_schedule(double value);

/// What polynomial_schedule goes through. Before `transition_begin` (negative counts as 0) it is
/// init_value, from transition_begin + transition_steps on end_value, between them
/// (init_value - end_value) (1 - t / transition_steps)^power + end_value, t counted from
/// transition_begin. Without a positive `transition_steps` it is init_value throughout.
struct PolynomialScheduleOptions {
  double init_value = 0.0;
  double end_value = 0.0;
  double power = 1.0;
  std::int64_t transition_steps = 0;
  std::int64_t transition_begin = 0;
};
[[nodiscard]] Schedule polynomial_schedule(const PolynomialScheduleOptions& options);

/// polynomial_schedule with power 1.
struct LinearScheduleOptions {
  double init_value = 0.0;
  double end_value = 0.0;
  std::int64_t transition_steps = 0;
  std::int64_t transition_begin = 0;
};
[[nodiscard]] Schedule linear_schedule(const LinearScheduleOptions& options);

/// init_value, multiplied by each scale from its step on. ValueError for a negative scale.
[[nodiscard]] Schedule piecewise_constant_schedule(
    double init_value, std::map<std::int64_t, double> boundaries_and_scales);

/// init_value decay_rate^(t / transition_steps), t counted from transition_begin (init_value before
/// it); with `staircase` the exponent is rounded down. `end_value` is the floor of a rate below 1,
/// the ceiling of any other. Without a positive `transition_steps`, or with rate 0, init_value
/// throughout.
struct ExponentialDecayOptions {
  double init_value = 0.0;
  std::int64_t transition_steps = 0;
  double decay_rate = 0.0;
  std::int64_t transition_begin = 0;
  bool staircase = false;
  std::optional<double> end_value = {};
};
[[nodiscard]] Schedule exponential_decay(const ExponentialDecayOptions& options);

/// init_value ((1 - alpha) ((1 + cos(pi c / decay_steps)) / 2)^exponent + alpha), with
/// c = min(count, decay_steps). ValueError unless decay_steps is positive.
struct CosineDecayOptions {
  double init_value = 0.0;
  std::int64_t decay_steps = 0;
  double alpha = 0.0;
  double exponent = 1.0;
};
[[nodiscard]] Schedule cosine_decay_schedule(const CosineDecayOptions& options);

/// A straight line from init_value to peak_value over warmup_steps, then cosine decay to end_value
/// at decay_steps (which includes the warm-up). ValueError unless decay_steps > warmup_steps.
struct WarmupCosineDecayOptions {
  double init_value = 0.0;
  double peak_value = 0.0;
  std::int64_t warmup_steps = 0;
  std::int64_t decay_steps = 0;
  double end_value = 0.0;
  double exponent = 1.0;
};
[[nodiscard]] Schedule warmup_cosine_decay_schedule(const WarmupCosineDecayOptions& options);

/// A straight line from init_value to peak_value over warmup_steps, then exponential decay.
struct WarmupExponentialDecayOptions {
  double init_value = 0.0;
  double peak_value = 0.0;
  std::int64_t warmup_steps = 0;
  std::int64_t transition_steps = 0;
  double decay_rate = 0.0;
  std::int64_t transition_begin = 0;
  bool staircase = false;
  std::optional<double> end_value = {};
};
[[nodiscard]] Schedule warmup_exponential_decay_schedule(
    const WarmupExponentialDecayOptions& options);

/// schedules[i] up to boundaries[i], each counting its steps from the boundary before it.
/// ValueError unless there is one boundary less than there are schedules.
[[nodiscard]] Schedule join_schedules(std::vector<Schedule> schedules,
                                      std::vector<std::int64_t> boundaries);

}  // namespace lockstep::optim
