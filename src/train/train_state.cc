#include "lockstep/train/train_state.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep {
namespace {

Tree metrics_tree(const Objective& objective) {
  Tree::Dict metrics{{"loss", objective.loss}};
  for (const auto& [name, value] : objective.metrics) {
    if (metrics.emplace(name, value).second) continue;
    throw_value_error("make_train_step",
                      fmt::format("a metric of the objective is named '{}', which "
                                  "is the loss itself; give it another name",
                                  name));
  }
  return metrics;
}

AbstractValue input_of(const Tree& batch) {
  std::optional<AbstractValue> input;
  for_each_leaf(batch, [&](const KeyPath&, const Array& leaf) {
    if (!input && is_floating(leaf.dtype())) input = leaf.abstract_value();
  });
  if (input) return *input;
  throw_value_error("init_function",
                    "the batch has no floating leaf that could be the model's input; "
                    "give fit a function that makes the parameters");
}

// The batch with abstract leaves, which a compiled initialiser may look at but not compute with.
Tree types_of(const Tree& batch) {
  return map_tree([](const Array& leaf) { return shape_dtype_struct(leaf.shape(), leaf.dtype()); },
                  batch);
}

}  // namespace

InitFunction init_function(nn::Module model) {
  return [model = std::move(model)](const random::Key& key, const Tree& sample_batch) {
    return model.init(nn::Scope(key), input_of(sample_batch));
  };
}

Tree init_train_state(const InitFunction& init, const optim::GradientTransformation& optimizer,
                      const Tree& sample_batch, std::uint64_t seed) {
  const Tree sample = types_of(sample_batch);
  const auto make = jit(
      [&](const Array& seed_key) -> Tree {
        const random::Key root(seed_key);
        // Two streams: changing how parameters are drawn does not change the steps' keys.
        const Tree params = init(random::fold_in(root, 0), sample);
        return Tree::Dict{{"key", random::fold_in(root, 1).data()},
                          {"opt_state", optimizer.init(params)},
                          {"params", params},
                          {"step", zeros({}, int32)}};
      },
      {.name = "init_train_state"});
  return make(random::key(seed).data());
}

StepFunction make_train_step(LossFunction loss, optim::GradientTransformation optimizer) {
  return [loss = std::move(loss), optimizer = std::move(optimizer)](const Tree& state,
                                                                    const Tree& batch) {
    const random::Key key = random::fold_in(random::Key(state["key"].leaf()), state["step"].leaf());
    const Tree& params = state["params"];
    const auto objective = [&](const Tree& at) {
      const Objective value = loss(at, batch, key);
      return std::pair<Array, Tree>(value.loss, metrics_tree(value));
    };
    const auto [value, gradient] = value_and_grad(objective)(params);
    auto [updates, opt_state] = optimizer.update(gradient, state["opt_state"], params);
    return StepOutput{.state = Tree::Dict{{"key", state["key"]},
                                          {"opt_state", std::move(opt_state)},
                                          {"params", optim::apply_updates(params, updates)},
                                          {"step", state["step"].leaf() + 1}},
                      .metrics = value.second};
  };
}

EvalFunction make_eval_step(LossFunction loss) {
  return [loss = std::move(loss)](const Tree& state, const Tree& batch) {
    return metrics_tree(loss(state["params"], batch, random::Key(state["key"].leaf())));
  };
}

std::optional<std::int64_t> state_step(const Tree& state) {
  if (!state.contains("step") || !state["step"].is_leaf()) return std::nullopt;
  const Array& step = state["step"].leaf();
  if (step.is_null() || step.ndim() != 0 ||
      (!is_integer(step.dtype()) && !is_floating(step.dtype()))) {
    return std::nullopt;
  }
  return step.item<std::int64_t>();
}

}  // namespace lockstep
