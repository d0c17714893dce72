// Cases from the field, by number: how many steps a fit makes, from where, on which types.
#include <cmath>

#include "train_test_support.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tree state_at(std::int32_t step) {
  Tree state = counting_state();
  state["step"] = Array(HostTensor::scalar(step));
  return state;
}

TEST(TrainingCases, C044_MaxStepsHoldsForAStateThatIsPastIt) {
  data::FunctionSource source = ones_source(2);
  const auto fit = [&](std::int32_t at, std::int64_t max_steps) {
    return Trainer(quiet_options(1, max_steps)).fit(count_step, state_at(at), source);
  };
  for (const std::int64_t max_steps : {40, 30, 0}) {
    const FitResult none = fit(40, max_steps);
    EXPECT_EQ(none.steps, 0) << max_steps;
    EXPECT_EQ(none.step, 40) << max_steps;
    EXPECT_EQ(none.state["step"].leaf().item<std::int32_t>(), 40);
  }
  const FitResult one = fit(40, 41);
  EXPECT_EQ(one.steps, 1);
  EXPECT_EQ(one.step, 41);
  const FitResult fresh = fit(0, 0);
  EXPECT_EQ(fresh.steps, 0);
  EXPECT_EQ(fresh.state["w"].leaf().item<float>(), 0.0F);
  EXPECT_THAT(error_text<ValueError>([&] { static_cast<void>(fit(0, -1)); }),
              AllOf(HasSubstr("max_steps"), HasSubstr("-1")));
}

TEST(TrainingCases, C044_AFitWithNothingToDoSaysSo) {
  data::FunctionSource source = ones_source(2);
  TrainerOptions options = quiet_options(1, 30);
  options.enable_progress_bar = true;
  ::testing::internal::CaptureStderr();
  static_cast<void>(Trainer(options).fit(count_step, state_at(40), source));
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("nothing to train"), HasSubstr("step 40"), HasSubstr("max_steps 30")));
}

// y = 2x by least squares, gradient descent with learning rate 0.01.
StepOutput least_squares_step(const Tree& state, const Tree& batch) {
  const Array& w = state["w"].leaf();
  const Array& x = batch["x"].leaf();
  const Array error = w * x - 2.0F * x;
  return {
      .state = Tree{{"step", state["step"].leaf() + 1}, {"w", w - 0.01F * mean(2.0F * error * x)}},
      .metrics = Tree{{"loss", mean(square(error))}}};
}

// Three fits of three steps from one another's state are one fit of nine: 3 batches an epoch.
TEST(TrainingCases, C045_ResumingCountsEveryStepOnce) {
  for (const std::size_t num_devices : {1, 2}) {
    std::vector<std::int64_t> seen;
    const auto make_source = [&] {
      return data::FunctionSource(
          [&seen](std::int64_t index) {
            seen.push_back(index);
            std::vector<float> x(8);
            for (std::size_t i = 0; i < x.size(); ++i) {
              x[i] = static_cast<float>(i + 1 + 8 * static_cast<std::size_t>(index % 3)) / 8.0F;
            }
            return Tree{{"x", host_array(x, {8})}};
          },
          3);
    };
    const auto fit = [&](const Tree& state, data::DataSource& source, std::int64_t max_steps,
                         const std::shared_ptr<RecordingLogger>& logger) {
      TrainerOptions options = quiet_options(num_devices, max_steps);
      options.log_every_n_steps = 1;
      options.loggers = {logger};
      return Trainer(options).fit(least_squares_step, state, source);
    };
    const auto straight_logger = std::make_shared<RecordingLogger>();
    data::FunctionSource straight_source = make_source();
    const FitResult straight = fit(state_at(0), straight_source, 9, straight_logger);
    const std::vector<std::int64_t> straight_batches = std::exchange(seen, {});
    EXPECT_THAT(straight_logger->steps_of("loss"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));

    // Also from the middle of an epoch.
    for (const std::vector<std::int64_t>& stops :
         {std::vector<std::int64_t>{3, 6, 9}, std::vector<std::int64_t>{2, 9}}) {
      const auto logger = std::make_shared<RecordingLogger>();
      Tree state = state_at(0);
      Tree source_state;
      std::int64_t before = 0;
      for (const std::int64_t stop : stops) {
        data::FunctionSource source = make_source();
        if (!source_state.is_none()) source.restore(source_state);
        const FitResult part = fit(state, source, stop, logger);
        EXPECT_EQ(part.steps, stop - before);
        EXPECT_EQ(part.step, stop);
        EXPECT_EQ(part.state["step"].leaf().item<std::int32_t>(), stop);
        state = device_get(part.state);
        source_state = device_get(source.state());
        before = stop;
      }
      EXPECT_EQ(logger->steps_of("loss"), straight_logger->steps_of("loss"));
      EXPECT_EQ(std::exchange(seen, {}), straight_batches);
      EXPECT_TRUE(state["w"].leaf().to_host().identical(straight.state["w"].leaf().to_host()));
    }
  }
}

TEST(TrainingCases, C045_ThreeStepsOfLeastSquaresGiveTheKnownWeight) {
  data::FunctionSource source([](std::int64_t) {
    return Tree{{"x", host_array({1, 2, 3, 4, 5, 6, 7, 8}, {8})}};
  });
  for (const std::size_t num_devices : {1, 2, 4}) {
    const FitResult result =
        Trainer(quiet_options(num_devices, 3)).fit(least_squares_step, state_at(0), source);
    EXPECT_NEAR(result.state["w"].leaf().item<float>(), 1.764702, 1e-6) << num_devices;
  }
}

// A step in float32 that is handed float64 rows: no silent narrowing, and a cast where it is asked
// for.
TEST(TrainingCases, C079_Float64RowsInAFloat32StepAreAnErrorThatNamesBothTypes) {
  const std::vector<double> values{1e-8, 1 + std::ldexp(1.0, -40)};
  const Tree batch{{"x", Array(HostTensor::from(values, {2}))}};
  for (const std::size_t num_devices : {1, 2}) {
    const auto strategy = cpu_strategy(num_devices);
    CompiledStep step(
        [](const Tree& state, const Tree& rows) {
          return StepOutput{Tree{{"w", state["w"].leaf() + rows["x"].leaf()}}, {}};
        },
        strategy);
    const Tree wide = step(Tree{{"w", Array(HostTensor::zeros(DType::Float64, {2}))}}, batch).state;
    EXPECT_EQ(wide["w"].leaf().to_vector<double>(), values);
    EXPECT_THAT(
        error_text<ValueError>([&] {
          static_cast<void>(
              step(Tree{{"w", Array(HostTensor::zeros(DType::Float32, {2}))}}, batch));
        }),
        AllOf(HasSubstr("'w'"), HasSubstr("float32"), HasSubstr("float64"), HasSubstr("cast")));
    const Tree narrow{{"x", Array(cast(HostTensor::from(values, {2}), DType::Float32))}};
    const Tree next =
        step(Tree{{"w", Array(HostTensor::zeros(DType::Float32, {2}))}}, narrow).state;
    const std::vector<float> found = next["w"].leaf().to_vector<float>();
    EXPECT_EQ(static_cast<double>(found.at(0)), 9.99999993922529e-09);
    EXPECT_EQ(found.at(1), 1.0F);
  }
}

}  // namespace
}  // namespace lockstep::testing
