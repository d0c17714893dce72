#include "lockstep/train/trainer_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lockstep/base/error.h"
#include "train/check_options.h"

namespace lockstep {
namespace {

void check_at_least(std::int64_t least, std::string_view name, std::int64_t value) {
  if (value >= least) return;
  throw_value_error("Trainer",
                    fmt::format("{} is {}, but must be at least {}", name, value, least));
}

void check_positive(std::string_view name, std::int64_t value) {
  check_at_least(1, name, value);
}

void check_positive(std::string_view name, std::optional<std::int64_t> value) {
  if (value) check_positive(name, *value);
}

template <class T>
void check_no_null(std::string_view name, const std::vector<std::shared_ptr<T>>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i]) continue;
    throw_value_error("Trainer", fmt::format("{}[{}] is null; leave it out", name, i));
  }
}

}  // namespace

std::string_view to_string(NanPolicy policy) {
  switch (policy) {
    case NanPolicy::Stop: return "stop";
    case NanPolicy::Warn: return "warn";
    case NanPolicy::Ignore: return "ignore";
  }
  return "unknown";
}

NanPolicy nan_policy_from_string(std::string_view text) {
  for (const NanPolicy policy : {NanPolicy::Stop, NanPolicy::Warn, NanPolicy::Ignore}) {
    if (to_string(policy) == text) return policy;
  }
  throw_value_error("detect_nan",
                    fmt::format("'{}' is no policy; expected stop, warn or ignore", text));
}

void check_options(const TrainerOptions& options) {
  if (!options.max_steps && !options.max_epochs) {
    throw_value_error("Trainer",
                      "neither max_steps nor max_epochs is set, so training would never end; "
                      "set one of them");
  }
  if (options.max_steps) check_at_least(0, "max_steps", *options.max_steps);
  check_positive("max_epochs", options.max_epochs);
  check_positive("log_every_n_steps", options.log_every_n_steps);
  check_positive("val_every_n_steps", options.val_every_n_steps);
  check_positive("limit_val_batches", options.limit_val_batches);
  check_positive("limit_train_batches", options.limit_train_batches);
  check_positive("max_steps_in_flight", options.max_steps_in_flight);
  check_no_null("loggers", options.loggers);
  check_no_null("callbacks", options.callbacks);
}

Hyperparameters to_hyperparameters(const TrainerOptions& options) {
  Hyperparameters result{
      {"strategy", options.strategy->to_string()},
      {"name", options.name},
      {"seed", static_cast<std::int64_t>(options.seed)},
      {"log_every_n_steps", options.log_every_n_steps},
      {"detect_nan", std::string(to_string(options.detect_nan))},
      {"max_steps_in_flight", options.max_steps_in_flight},
  };
  const auto add = [&](const char* name, const std::optional<std::int64_t>& value) {
    if (value) result[name] = *value;
  };
  add("max_steps", options.max_steps);
  add("max_epochs", options.max_epochs);
  add("val_every_n_steps", options.val_every_n_steps);
  add("limit_val_batches", options.limit_val_batches);
  add("limit_train_batches", options.limit_train_batches);
  return result;
}

}  // namespace lockstep
