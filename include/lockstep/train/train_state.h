#pragma once
/// The training state, and the steps that a loss and an optimiser make.
#include <cstdint>
#include <functional>

#include "lockstep/array/array.h"
#include "lockstep/nn/module.h"
#include "lockstep/optim/gradient_transformation.h"
#include "lockstep/train/objective.h"
#include "lockstep/train/step.h"

namespace lockstep {

/// Makes a model's parameters, from a key and a batch of which only shapes and types matter.
using InitFunction = std::function<Tree(const random::Key& key, const Tree& sample_batch)>;

/// A module's `init` for the batch's input: its first floating leaf in flattening order (of
/// {image, label} the image). ValueError where the batch has none.
[[nodiscard]] InitFunction init_function(nn::Module model);

/// A new training state: {"key", "opt_state", "params", "step"}, where `step` is an int32 scalar
/// that counts steps and `key` the uint32[2] key that every step's key is folded from. One compiled
/// program makes all of it, on default_device(); strategies place it.
[[nodiscard]] Tree init_train_state(const InitFunction& init,
                                    const optim::GradientTransformation& optimizer,
                                    const Tree& sample_batch, std::uint64_t seed);

/// The step of a loss and an optimiser over such a state: value and gradient, update, step + 1. Its
/// metrics are "loss" and the objective's; ValueError for one that is named "loss".
[[nodiscard]] StepFunction make_train_step(LossFunction loss,
                                           optim::GradientTransformation optimizer);

/// The metrics of a loss without an update, under the state's parameters.
[[nodiscard]] EvalFunction make_eval_step(LossFunction loss);

/// The counter of a state that has one: a real scalar at "step". Nothing otherwise. Waits for it.
[[nodiscard]] std::optional<std::int64_t> state_step(const Tree& state);

}  // namespace lockstep
