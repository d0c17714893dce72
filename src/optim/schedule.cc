#include "lockstep/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/promotion.h"

namespace lockstep::optim {

Schedule constant_schedule(double value) {
  return [value](const Array& count) { return full_like(count, value, default_float_dtype()); };
}

Schedule polynomial_schedule(const PolynomialScheduleOptions& options) {
  if (options.transition_steps <= 0) return constant_schedule(options.init_value);
  const std::int64_t begin = std::max<std::int64_t>(options.transition_begin, 0);
  return [options, begin](const Array& count) {
    const Array since = begin == 0 ? count : count - begin;
    const Array clipped = lockstep::clip(since, 0, options.transition_steps);
    const Array left = 1.0 - clipped / options.transition_steps;
    const Array shape = options.power == 1.0 ? left : power(left, Array(options.power));
    return (options.init_value - options.end_value) * shape + options.end_value;
  };
}

Schedule linear_schedule(const LinearScheduleOptions& options) {
  return polynomial_schedule({.init_value = options.init_value,
                              .end_value = options.end_value,
                              .power = 1.0,
                              .transition_steps = options.transition_steps,
                              .transition_begin = options.transition_begin});
}

Schedule piecewise_constant_schedule(double init_value,
                                     std::map<std::int64_t, double> boundaries_and_scales) {
  for (const auto& [boundary, scale] : boundaries_and_scales) {
    if (scale < 0.0) {
      throw_value_error(
          "piecewise_constant_schedule",
          fmt::format("the scale at step {} is {}; scales must not be negative", boundary, scale));
    }
  }
  return [init_value, steps = std::move(boundaries_and_scales)](const Array& count) {
    Array value = constant_schedule(init_value)(count);
    for (const auto& [boundary, scale] : steps) {
      value = where(count < boundary, value, scale * value);
    }
    return value;
  };
}

Schedule exponential_decay(const ExponentialDecayOptions& options) {
  if (options.transition_steps <= 0 || options.decay_rate == 0.0) {
    return constant_schedule(options.init_value);
  }
  const std::int64_t begin = std::max<std::int64_t>(options.transition_begin, 0);
  return [options, begin](const Array& count) {
    const Array since = begin == 0 ? count : count - begin;
    Array exponent = since / options.transition_steps;
    if (options.staircase) exponent = floor(exponent);
    const Array decayed = options.init_value * power(Array(options.decay_rate), exponent);
    const Array value = where(since <= 0, options.init_value, decayed);
    if (!options.end_value) return value;
    return options.decay_rate < 1.0 ? maximum(value, *options.end_value)
                                    : minimum(value, *options.end_value);
  };
}

Schedule cosine_decay_schedule(const CosineDecayOptions& options) {
  if (options.decay_steps <= 0) {
    throw_value_error("cosine_decay_schedule",
                      fmt::format("decay_steps is {}; it must be positive", options.decay_steps));
  }
  return [options](const Array& count) {
    const double steps = static_cast<double>(options.decay_steps);
    const Array elapsed = minimum(count, steps);
    const Array cosine = 0.5 * (1.0 + cos(std::numbers::pi * elapsed / steps));
    const Array shape = options.exponent == 1.0 ? cosine : power(cosine, Array(options.exponent));
    return options.init_value * ((1.0 - options.alpha) * shape + options.alpha);
  };
}

Schedule warmup_cosine_decay_schedule(const WarmupCosineDecayOptions& options) {
  if (options.decay_steps <= options.warmup_steps) {
    throw_value_error("warmup_cosine_decay_schedule",
                      fmt::format("decay_steps is {} and warmup_steps {}; decay_steps includes the "
                                  "warm-up, so it must be the greater",
                                  options.decay_steps, options.warmup_steps));
  }
  const double alpha = options.peak_value == 0.0 ? 0.0 : options.end_value / options.peak_value;
  return join_schedules(
      {linear_schedule({.init_value = options.init_value,
                        .end_value = options.peak_value,
                        .transition_steps = options.warmup_steps}),
       cosine_decay_schedule({.init_value = options.peak_value,
                              .decay_steps = options.decay_steps - options.warmup_steps,
                              .alpha = alpha,
                              .exponent = options.exponent})},
      {options.warmup_steps});
}

Schedule warmup_exponential_decay_schedule(const WarmupExponentialDecayOptions& options) {
  return join_schedules({linear_schedule({.init_value = options.init_value,
                                          .end_value = options.peak_value,
                                          .transition_steps = options.warmup_steps}),
                         exponential_decay({.init_value = options.peak_value,
                                            .transition_steps = options.transition_steps,
                                            .decay_rate = options.decay_rate,
                                            .transition_begin = options.transition_begin,
                                            .staircase = options.staircase,
                                            .end_value = options.end_value})},
                        {options.warmup_steps});
}

Schedule join_schedules(std::vector<Schedule> schedules, std::vector<std::int64_t> boundaries) {
  if (schedules.size() != boundaries.size() + 1) {
    throw_value_error(
        "join_schedules",
        fmt::format("{} schedules have {} boundaries between them, got {}", schedules.size(),
                    schedules.empty() ? 0 : schedules.size() - 1, boundaries.size()));
  }
  return
      [schedules = std::move(schedules), boundaries = std::move(boundaries)](const Array& count) {
        Array value = schedules.front()(count);
        for (std::size_t i = 0; i < boundaries.size(); ++i) {
          value = where(count < boundaries[i], value, schedules[i + 1](count - boundaries[i]));
        }
        return value;
      };
}

}  // namespace lockstep::optim
