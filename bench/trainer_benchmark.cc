// (a) A tiny step through the Trainer against a bare loop over the PJRT C API.
#include <benchmark/benchmark.h>

#include "bare_loop.h"
#include "clock.h"
#include "cpu_devices.h"
#include "lockstep/lockstep.h"
#include "tiny_step.h"

namespace lockstep::bench {
namespace {

constexpr std::int64_t warm_up_steps = 500;
constexpr std::int64_t measured_steps = 5000;

std::shared_ptr<const Strategy> strategy_of(const benchmark::State& state) {
  use_two_cpu_devices();
  return create_strategy("cpu", state.range(0));
}

// Takes the time from the end of the warm-up to the end of the fit, when the last step has
// completed.
class Stopwatch final : public Callback {
 public:
  void on_train_step_end(FitContext& context) override {
    if (context.step() == warm_up_steps) begin_ = now();
  }
  void on_fit_end(FitContext&) override { seconds = now() - begin_; }
  double seconds = 0;

 private:
  double begin_ = 0;
};

void report(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * measured_steps);
}

void tiny_step_bare_loop(benchmark::State& state) {
  const auto strategy = strategy_of(state);
  BareLoop loop(strategy, default_max_steps_in_flight);
  loop.run(warm_up_steps);
  for ([[maybe_unused]] auto iteration : state) {
    const double begin = now();
    loop.run(measured_steps);
    state.SetIterationTime(now() - begin);
  }
  report(state);
}

void tiny_step_trainer(benchmark::State& state) {
  for ([[maybe_unused]] auto iteration : state) {
    const auto watch = std::make_shared<Stopwatch>();
    TrainerOptions options;
    options.max_steps = warm_up_steps + measured_steps;
    options.strategy = strategy_of(state);
    options.root_dir = "";
    options.enable_progress_bar = false;
    options.callbacks = {watch};
    data::FunctionSource source(
        [](std::int64_t index) { return tiny_batches()[static_cast<std::size_t>(index) & 7U]; });
    Tree first = tiny_state();
    static_cast<void>(Trainer(options).fit(tiny_step, first, source));
    state.SetIterationTime(watch->seconds);
  }
  report(state);
}

BENCHMARK(tiny_step_bare_loop)
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(tiny_step_trainer)
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::bench
