#pragma once
/// The Trainer: runs compiled steps from the host.
#include <functional>
#include <memory>
#include <optional>

#include "lockstep/data/data_source.h"
#include "lockstep/nn/module.h"
#include "lockstep/optim/gradient_transformation.h"
#include "lockstep/train/fit_result.h"
#include "lockstep/train/objective.h"
#include "lockstep/train/step.h"
#include "lockstep/train/train_state.h"
#include "lockstep/train/trainer_options.h"

namespace lockstep {

/// Samples, places, executes and logs, for as many steps as its options say.
///
/// The hot loop waits for the devices only where a metric is read (every log_every_n_steps) and
/// where more than max_steps_in_flight steps would be running. SIGINT ends a fit after the running
/// step, with the last completed state and `interrupted`; a second one ends the process at once.
class Trainer {
 public:
  /// ValueError naming the option that cannot be used. Starts the devices of the strategy.
  explicit Trainer(TrainerOptions options);

  [[nodiscard]] const Strategy& strategy() const { return *options_.strategy; }
  [[nodiscard]] const TrainerOptions& options() const { return options_; }

  /// Trains a model of the library, or of your own, from a fresh state (see init_train_state).
  /// `validation`, if given, is evaluated as the options say. The sources are used, not kept.
  [[nodiscard]] FitResult fit(const LossFunction& loss, const nn::Module& model,
                              const optim::GradientTransformation& optimizer,
                              data::DataSource& training, data::DataSource* validation = nullptr);
  [[nodiscard]] FitResult fit(const LossFunction& loss, const InitFunction& init,
                              const optim::GradientTransformation& optimizer,
                              data::DataSource& training, data::DataSource* validation = nullptr);

  /// Trains with any step from any state. A state with an integer scalar at "step" has its counter
  /// checked against the host's at the end; it may not reach the end of its type.
  /// `evaluate_step` makes the metrics of validation.
  /// Errors, besides the step's own: ValueError for a source without batches, an empty batch, a
  /// batch that the strategy cannot split; RuntimeError for a run folder that cannot be written
  /// (before anything is compiled), a loss that is not finite (NanPolicy::Stop), a counter that
  /// differs.
  [[nodiscard]] FitResult fit(const StepFunction& step, const Tree& state,
                              data::DataSource& training, const EvalFunction& evaluate_step = {},
                              data::DataSource* validation = nullptr);

  /// The means of the metrics over one pass of `source`, each batch weighted by its rows. Where a
  /// batch does not divide by the number of devices, its last rows run on the root device alone, so
  /// every row counts once under every strategy.
  [[nodiscard]] Metrics evaluate(const LossFunction& loss, const Tree& state,
                                 data::DataSource& source);
  [[nodiscard]] Metrics evaluate(const EvalFunction& step, const Tree& state,
                                 data::DataSource& source);

 private:
  using StateMaker = std::function<Tree(const Tree& first_batch)>;
  [[nodiscard]] FitResult run(const StepFunction& step, const StateMaker& make_state,
                              data::DataSource& training, const EvalFunction& evaluate_step,
                              data::DataSource* validation);

  TrainerOptions options_;
};

}  // namespace lockstep
