#include "lockstep/train/trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/base/number_text.h"
#include "lockstep/strategy/single_device.h"
#include "lockstep/trace/executable_cache.h"
#include "lockstep/train/summary.h"
#include "train/check_options.h"
#include "train/evaluation.h"
#include "train/fit_loop.h"

namespace lockstep {
namespace {

std::string summary(const TrainerOptions& options, const FitResult& result) {
  SummaryTable table(fmt::format("{} {}", options.name,
                                 result.interrupted     ? "was interrupted"
                                 : result.stopped_early ? "stopped: " + result.stop_reason
                                                        : "is done"));
  table.add("steps", fmt::format("{} ({} epochs, {} examples)", grouped_number_text(result.step),
                                 result.epochs, grouped_number_text(result.examples)));
  for (const auto& [name, value] : result.metrics) table.add(name, short_number_text(value));
  for (const auto& [name, value] : result.validation_metrics) {
    table.add("validation " + name, short_number_text(value));
  }
  table.add("speed",
            fmt::format("{} steps/s, {} examples/s", short_number_text(result.steps_per_second),
                        grouped_number_text(std::llround(result.examples_per_second))));
  table.add("time", fmt::format("{}, of which compiling {}", duration_text(result.wall_seconds),
                                duration_text(result.compile_seconds)));
  table.add("peak memory", fmt::format("{:.0f} MiB", result.peak_memory_mb));
  if (!result.run_dir.empty()) table.add("run folder", result.run_dir.string());
  return table.to_string();
}

}  // namespace

Trainer::Trainer(TrainerOptions options) : options_(std::move(options)) {
  check_options(options_);
  if (!options_.strategy)
    options_.strategy = create_strategy(options_.accelerator, options_.devices);
  if (options_.compile_cache_dir) set_compile_cache_dir(options_.compile_cache_dir->string());
}

FitResult Trainer::fit(const LossFunction& loss, const nn::Module& model,
                       const optim::GradientTransformation& optimizer, data::DataSource& training,
                       data::DataSource* validation) {
  return fit(loss, init_function(model), optimizer, training, validation);
}

FitResult Trainer::fit(const LossFunction& loss, const InitFunction& init,
                       const optim::GradientTransformation& optimizer, data::DataSource& training,
                       data::DataSource* validation) {
  return run(
      make_train_step(loss, optimizer),
      [&](const Tree& first_batch) {
        return init_train_state(init, optimizer, first_batch, options_.seed);
      },
      training, make_eval_step(loss), validation);
}

FitResult Trainer::fit(const StepFunction& step, const Tree& state, data::DataSource& training,
                       const EvalFunction& evaluate_step, data::DataSource* validation) {
  return run(
      step, [&](const Tree&) { return state; }, training, evaluate_step, validation);
}

FitResult Trainer::run(const StepFunction& step, const StateMaker& make_state,
                       data::DataSource& training, const EvalFunction& evaluate_step,
                       data::DataSource* validation) {
  if (validation != nullptr && !evaluate_step) {
    throw_value_error("Trainer",
                      "there is a validation source but no evaluation step; give fit both");
  }
  CompiledStep compiled(step, options_.strategy);
  std::optional<Evaluation> evaluation;
  if (validation != nullptr) evaluation.emplace(evaluate_step, options_.strategy);
  FitLoop loop(options_, compiled, training, evaluation ? &*evaluation : nullptr, validation);
  FitResult result = loop.run(make_state);
  if (options_.strategy->is_global_zero() && options_.enable_progress_bar) {
    fmt::print(stderr, "\n{}\n", summary(options_, result));
  }
  return result;
}

Metrics Trainer::evaluate(const LossFunction& loss, const Tree& state, data::DataSource& source) {
  return evaluate(make_eval_step(loss), state, source);
}

Metrics Trainer::evaluate(const EvalFunction& step, const Tree& state, data::DataSource& source) {
  return Evaluation(step, options_.strategy).run(state, source);
}

}  // namespace lockstep
