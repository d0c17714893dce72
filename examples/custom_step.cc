// A step of one's own: linear regression by gradient descent, without an optimiser or a module.
// The state is a struct; the trainer takes any step (state, batch) -> (state, metrics).
#include <lockstep/lockstep.h>

#include <iostream>
#include <vector>

namespace ls = lockstep;

struct State {
  ls::Array slope = 0.0F;
  ls::Array step = 0;
  auto tree_fields() { return ls::fields("slope", slope, "step", step); }
};

int main() {
  // y = 3 x: batch number i is a function of i, so that a run can be repeated and resumed.
  ls::data::FunctionSource source([](std::int64_t index) {
    const ls::Array x = ls::random::normal(ls::random::fold_in(ls::random::key(1), index), {64});
    return ls::Tree{{"x", x.to_host()}, {"y", (3.0F * x).to_host()}};
  });

  const auto step = [](const ls::Tree& tree, const ls::Tree& batch) {
    State state = ls::from_tree<State>(tree);
    const auto loss = [&](const ls::Array& slope) {
      return ls::mean(ls::square(slope * batch["x"].leaf() - batch["y"].leaf()));
    };
    const auto [value, gradient] = ls::value_and_grad(loss)(state.slope);
    state.slope = state.slope - 0.1F * gradient;
    state.step = state.step + 1;
    return ls::StepOutput{.state = state, .metrics = {{"loss", value}}};
  };

  ls::Trainer trainer({.max_steps = 100, .accelerator = "cpu", .root_dir = ""});
  const ls::FitResult result = trainer.fit(step, State{}, source);
  std::cout << "slope " << result.state["slope"].leaf().item<float>() << '\n';
}
