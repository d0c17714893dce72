#include "lockstep/train/trainer.h"

#include <cmath>
#include <limits>

#include "lockstep/nn/dense.h"
#include "lockstep/optim/sgd.h"
#include "train/train_test_support.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Trainer, AFitCountsOnHostAndDevice) {
  for (const std::size_t devices : {1, 2}) {
    data::FunctionSource source = ones_source(4);
    const FitResult result =
        Trainer(quiet_options(devices, 7)).fit(count_step, counting_state(), source);
    EXPECT_EQ(result.steps, 7);
    EXPECT_EQ(result.step, 7);
    EXPECT_EQ(result.examples, 28);
    EXPECT_EQ(result.epochs, 0);
    EXPECT_FALSE(result.interrupted);
    EXPECT_TRUE(result.run_dir.empty());
    EXPECT_EQ(result.state["step"].leaf().item<std::int32_t>(), 7);
    EXPECT_EQ(result.metrics.at("loss"), 7.0);
    EXPECT_GT(result.compile_seconds, 0);
    EXPECT_GT(result.first_step_seconds, 0);
    EXPECT_GT(result.peak_memory_mb, 0);
  }
}

TEST(Trainer, MaxStepsIsAnAbsoluteTarget) {
  data::FunctionSource source = ones_source(2);
  Tree state = counting_state();
  state["step"] = Array(HostTensor::scalar(std::int32_t{40}));
  const FitResult one = Trainer(quiet_options(1, 41)).fit(count_step, state, source);
  EXPECT_EQ(one.steps, 1);
  EXPECT_EQ(one.step, 41);
  const FitResult none = Trainer(quiet_options(1, 41)).fit(count_step, one.state, source);
  EXPECT_EQ(none.steps, 0);
  EXPECT_EQ(none.step, 41);
}

TEST(Trainer, EpochsAndLimits) {
  TrainerOptions options = quiet_options(1, 1);
  options.max_steps.reset();
  options.max_epochs = 3;
  {
    data::FunctionSource source = ones_source(2, 4);
    const FitResult result = Trainer(options).fit(count_step, counting_state(), source);
    EXPECT_EQ(result.steps, 12);
    EXPECT_EQ(result.epochs, 3);
  }
  options.limit_train_batches = 2;
  {
    data::FunctionSource source = ones_source(2, 4);
    const FitResult result = Trainer(options).fit(count_step, counting_state(), source);
    EXPECT_EQ(result.steps, 6);
    EXPECT_EQ(result.epochs, 3);
  }
  options.max_steps = 5;
  {
    data::FunctionSource source = ones_source(2, 4);
    EXPECT_EQ(Trainer(options).fit(count_step, counting_state(), source).steps, 5);
  }
}

TEST(Trainer, MetricsAreLoggedAtTheFirstEveryNthAndTheLastStep) {
  TrainerOptions options = quiet_options(1, 11);
  options.log_every_n_steps = 4;
  const auto logger = std::make_shared<RecordingLogger>();
  options.loggers = {logger};
  data::FunctionSource source = ones_source(2);
  static_cast<void>(Trainer(options).fit(count_step, counting_state(), source));
  EXPECT_THAT(logger->steps_of("loss"), ElementsAre(1, 4, 8, 11));
  EXPECT_EQ(logger->rows[1].second.at("loss"), 4.0);
  EXPECT_EQ(logger->status, RunStatus::Success);
  EXPECT_EQ(std::get<std::int64_t>(logger->hyperparameters.at("max_steps")), 11);
}

TEST(Trainer, TheLastStepIsLoggedAlsoWhereAValidationEndsTheFit) {
  TrainerOptions options = quiet_options(1, 6);
  options.log_every_n_steps = 4;
  const auto logger = std::make_shared<RecordingLogger>();
  options.loggers = {logger};
  data::FunctionSource training = ones_source(2, 3);
  data::FunctionSource validation = ones_source(2, 1);
  const EvalFunction evaluate = [](const Tree& state, const Tree&) {
    return Tree{{"w", state["w"]}};
  };
  const FitResult result =
      Trainer(options).fit(count_step, counting_state(), training, evaluate, &validation);
  EXPECT_THAT(logger->steps_of("loss"), ElementsAre(1, 4, 6));
  EXPECT_THAT(logger->steps_of("val/w"), ElementsAre(3, 6));
  EXPECT_EQ(result.metrics.at("loss"), 6.0);
}

TEST(Trainer, AModelIsFitted) {
  TrainerOptions options = quiet_options(2, 200);
  options.seed = 5;
  // y = 3 x - 1.
  data::FunctionSource source([](std::int64_t index) {
    const std::vector<float> x =
        random::normal(random::fold_in(random::key(1), index), {16}).to_vector<float>();
    std::vector<float> y;
    for (const float value : x) y.push_back(3 * value - 1);
    return Tree{{"x", host_array(x, {16, 1})}, {"y", host_array(y, {16, 1})}};
  });
  const nn::Module model = nn::Dense{1};
  const LossFunction loss = [&](const Tree& params, const Tree& batch, const random::Key&) {
    const Array error = model.apply(params, batch["x"].leaf()) - batch["y"].leaf();
    return Objective{.loss = mean(square(error)), .metrics = {{"largest", max(abs(error))}}};
  };
  const FitResult result = Trainer(options).fit(loss, model, optim::sgd(0.1), source);
  EXPECT_LT(result.metrics.at("loss"), 1e-6);
  EXPECT_TRUE(result.metrics.contains("largest"));
  EXPECT_NEAR(result.state["params"]["kernel"].leaf().item<float>(), 3, 1e-3);
  EXPECT_NEAR(result.state["params"]["bias"].leaf().item<float>(), -1, 1e-3);
}

// Writes the moments it sees.
class Recorder final : public Callback {
 public:
  Recorder(std::string name, std::vector<std::string>& moments, int order = 0)
      : name_(std::move(name)), moments_(moments), order_(order) {}
  [[nodiscard]] int priority() const override { return order_; }
  void on_fit_start(FitContext& context) override { note("start", context); }
  void on_train_step_end(FitContext& context) override { note("step", context); }
  void on_train_epoch_end(FitContext& context) override { note("epoch", context); }
  void on_validation_end(FitContext& context) override { note("validation", context); }
  void on_fit_end(FitContext& context) override { note("end", context); }
  void on_exception(FitContext& context, std::exception_ptr) override {
    note("exception", context);
  }

 private:
  void note(const std::string& moment, const FitContext& context) {
    moments_.push_back(name_ + moment + std::to_string(context.step()));
  }
  std::string name_;
  std::vector<std::string>& moments_;
  int order_;
};

Tree loss_of_state(const Tree& state, const Tree&) {
  return Tree{{"w", state["w"]}};
}

TEST(Callbacks, AreCalledAtTheirMomentsByPriority) {
  std::vector<std::string> moments;
  TrainerOptions options = quiet_options(1, 4);
  options.callbacks = {std::make_shared<Recorder>("a", moments),
                       std::make_shared<Recorder>("B", moments, 1)};
  data::FunctionSource training = ones_source(2, 2);
  data::FunctionSource validation = ones_source(2, 1);
  const FitResult result =
      Trainer(options).fit(count_step, counting_state(), training, loss_of_state, &validation);
  EXPECT_THAT(moments,
              ElementsAre("Bstart0", "astart0", "Bstep1", "astep1", "Bstep2", "astep2", "Bepoch2",
                          "aepoch2", "Bvalidation2", "avalidation2", "Bstep3", "astep3", "Bstep4",
                          "astep4", "Bvalidation4", "avalidation4", "Bend4", "aend4"));
  EXPECT_EQ(result.validation_metrics.at("w"), 4.0);
}

TEST(Callbacks, ValidationEveryNSteps) {
  std::vector<std::string> moments;
  TrainerOptions options = quiet_options(1, 7);
  options.val_every_n_steps = 3;
  const auto logger = std::make_shared<RecordingLogger>();
  options.loggers = {logger};
  data::FunctionSource training = ones_source(2, 4);
  data::FunctionSource validation = ones_source(2, 1);
  static_cast<void>(
      Trainer(options).fit(count_step, counting_state(), training, loss_of_state, &validation));
  EXPECT_THAT(logger->steps_of("val/w"), ElementsAre(3, 6, 7));
}

// Acts at a step.
class AtStep final : public Callback {
 public:
  AtStep(std::int64_t step, std::function<void(FitContext&)> action)
      : step_(step), action_(std::move(action)) {}
  void on_train_step_end(FitContext& context) override {
    if (context.step() == step_) action_(context);
  }

 private:
  std::int64_t step_;
  std::function<void(FitContext&)> action_;
};

TEST(Callbacks, MayStopReadAndLog) {
  TrainerOptions options = quiet_options(2, 100);
  const auto logger = std::make_shared<RecordingLogger>();
  options.loggers = {logger};
  options.callbacks = {std::make_shared<AtStep>(3, [](FitContext& context) {
    EXPECT_EQ(context.metrics().at("loss"), 3.0);
    EXPECT_EQ(context.state()["w"].leaf().item<float>(), 3.0F);
    EXPECT_EQ(context.max_steps(), 100);
    context.log_metrics({{"mine", 0.5}});
    context.request_stop("good enough");
  })};
  data::FunctionSource source = ones_source(2);
  const FitResult result = Trainer(options).fit(count_step, counting_state(), source);
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(result.stop_reason, "good enough");
  EXPECT_EQ(result.step, 3);
  EXPECT_THAT(logger->steps_of("mine"), ElementsAre(3));
}

TEST(Callbacks, OneThatThrowsEndsTheFitWithItsException) {
  std::vector<std::string> moments;
  TrainerOptions options = quiet_options(1, 100);
  const auto logger = std::make_shared<RecordingLogger>();
  options.loggers = {logger};
  options.callbacks = {
      std::make_shared<Recorder>("", moments),
      std::make_shared<AtStep>(2, [](FitContext&) { throw std::out_of_range("of my own"); })};
  data::FunctionSource source = ones_source(2);
  EXPECT_THROW(static_cast<void>(Trainer(options).fit(count_step, counting_state(), source)),
               std::out_of_range);
  EXPECT_EQ(moments.back(), "exception2");
  EXPECT_EQ(logger->status, RunStatus::Failed);
}

TEST(Evaluate, C075_BatchesCountByTheirRows) {
  struct Case {
    std::vector<std::pair<float, std::int64_t>> batches;
    double mean;
  };
  for (const Case& one :
       {Case{{{0.7F, 256}, {0.8F, 256}, {0.9F, 10}}, 0.752874},
        Case{{{1.2F, 5}, {1.3F, 3}}, 1.2375}, Case{{{10.0F, 2}, {9.0F, 1}}, 9.666667}}) {
    for (const std::size_t devices : {1, 2, 4}) {
      data::FunctionSource source(
          [&](std::int64_t index) {
            const auto& [value, rows] =
                one.batches[static_cast<std::size_t>(index) % one.batches.size()];
            return Tree{{"x", host_array(std::vector<float>(static_cast<std::size_t>(rows), value),
                                         {rows})}};
          },
          static_cast<std::int64_t>(one.batches.size()));
      const Metrics metrics = Trainer(quiet_options(devices, 1))
                                  .evaluate(
                                      [](const Tree&, const Tree& batch) {
                                        return Tree{{"m", mean(batch["x"].leaf())}};
                                      },
                                      counting_state(), source);
      EXPECT_NEAR(metrics.at("m"), one.mean, 5e-7) << devices << " devices";
    }
  }
}

// A step whose loss is `value` from step 7 on.
StepFunction breaks_at_seven(float value) {
  return [value](const Tree& state, const Tree&) {
    const Array step = state["step"].leaf() + 1;
    return StepOutput{Tree{{"step", step}, {"w", state["w"]}},
                      Tree{{"loss", where(step >= 7, Array(value), Array(0.5F))}}};
  };
}

TEST(NanPolicies, C061_StopWarnIgnore) {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    TrainerOptions options = quiet_options(1, 20);
    options.log_every_n_steps = 5;
    const auto logger = std::make_shared<RecordingLogger>();
    options.loggers = {logger};
    data::FunctionSource source = ones_source(1);
    const std::string text = error_text<RuntimeError>([&] {
      static_cast<void>(Trainer(options).fit(breaks_at_seven(value), counting_state(), source));
    });
    EXPECT_THAT(text, AllOf(HasSubstr("step 10"), HasSubstr("'loss'"),
                            HasSubstr(std::isnan(value) ? "nan" : "inf"), HasSubstr("detect_nan")));
    EXPECT_EQ(logger->status, RunStatus::Failed);
    EXPECT_EQ(logger->rows.back().first, 10);

    options.enable_progress_bar = true;
    options.detect_nan = NanPolicy::Warn;
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(Trainer(options).fit(breaks_at_seven(value), counting_state(), source).step, 20);
    const std::string shown = ::testing::internal::GetCapturedStderr();
    const std::size_t first = shown.find("warning");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(shown.find("warning", first + 1), std::string::npos) << "one line, no flood";
    EXPECT_THAT(shown, HasSubstr("step 10"));

    options.enable_progress_bar = false;
    options.detect_nan = NanPolicy::Ignore;
    EXPECT_EQ(Trainer(options).fit(breaks_at_seven(value), counting_state(), source).step, 20);
  }
  EXPECT_EQ(nan_policy_from_string("warn"), NanPolicy::Warn);
  EXPECT_THAT(error_text<ValueError>([] { static_cast<void>(nan_policy_from_string("halt")); }),
              AllOf(HasSubstr("halt"), HasSubstr("stop")));
}

TEST(StepCounters, C082_OverflowAndStandstillAreReported) {
  data::FunctionSource source = ones_source(1);
  Tree state = counting_state();
  state["step"] = Array(HostTensor::scalar(std::int32_t{2147483646}));
  EXPECT_THAT(
      error_text<ValueError>([&] {
        static_cast<void>(Trainer(quiet_options(1, 2147483649)).fit(count_step, state, source));
      }),
      AllOf(HasSubstr("2147483649"), HasSubstr("int32"), HasSubstr("2147483647"),
            HasSubstr("int64")));
  EXPECT_EQ(Trainer(quiet_options(1, 2147483647)).fit(count_step, state, source).step, 2147483647);

  state["step"] = Array(HostTensor::scalar(std::int64_t{2147483647}));
  TrainerOptions options = quiet_options(1, 2147483649);
  const auto logger = std::make_shared<RecordingLogger>();
  options.loggers = {logger};
  EXPECT_EQ(Trainer(options).fit(count_step, state, source).step, 2147483649);
  EXPECT_EQ(logger->rows.back().first, 2147483649);

  // float32 has no number between 2^24 and 2^24 + 2.
  state["step"] = Array(HostTensor::scalar(16777216.0F));
  EXPECT_THAT(
      error_text<RuntimeError>([&] {
        static_cast<void>(Trainer(quiet_options(1, 16777218)).fit(count_step, state, source));
      }),
      AllOf(HasSubstr("counts 16777216"), HasSubstr("counts 16777218"), HasSubstr("float32")));
}

TEST(StepCounters, AStepThatDoesNotCountIsFound) {
  data::FunctionSource source = ones_source(1);
  EXPECT_THAT(error_text<RuntimeError>([&] {
                static_cast<void>(Trainer(quiet_options(1, 3))
                                      .fit(
                                          [](const Tree& state, const Tree&) {
                                            return StepOutput{state, {}};
                                          },
                                          counting_state(), source));
              }),
              AllOf(HasSubstr("counts 0"), HasSubstr("counts 3"), HasSubstr("'step'")));
}

TEST(Trainer, OptionsAreChecked) {
  const auto text = [](const std::function<void(TrainerOptions&)>& change) {
    TrainerOptions options = quiet_options(1, 3);
    change(options);
    return error_text<ValueError>([&] { Trainer{options}; });
  };
  EXPECT_THAT(text([](TrainerOptions& o) { o.max_steps.reset(); }),
              AllOf(HasSubstr("max_steps"), HasSubstr("max_epochs")));
  EXPECT_THAT(text([](TrainerOptions& o) { o.max_steps = -1; }),
              AllOf(HasSubstr("max_steps"), HasSubstr("-1")));
  EXPECT_THAT(text([](TrainerOptions& o) { o.max_epochs = -1; }),
              AllOf(HasSubstr("max_epochs"), HasSubstr("-1")));
  EXPECT_THAT(text([](TrainerOptions& o) { o.log_every_n_steps = 0; }),
              HasSubstr("log_every_n_steps"));
  EXPECT_THAT(text([](TrainerOptions& o) { o.val_every_n_steps = 0; }),
              HasSubstr("val_every_n_steps"));
  EXPECT_THAT(text([](TrainerOptions& o) { o.limit_val_batches = 0; }),
              HasSubstr("limit_val_batches"));
  EXPECT_THAT(text([](TrainerOptions& o) { o.limit_train_batches = 0; }),
              HasSubstr("limit_train_batches"));
  EXPECT_THAT(text([](TrainerOptions& o) { o.max_steps_in_flight = 0; }),
              HasSubstr("max_steps_in_flight"));
  EXPECT_THAT(text([](TrainerOptions& o) { o.loggers = {nullptr}; }), HasSubstr("loggers[0]"));
  EXPECT_THAT(text([](TrainerOptions& o) { o.callbacks = {nullptr}; }), HasSubstr("callbacks[0]"));
}

TEST(Trainer, ADefaultStrategyIsCreated) {
  TrainerOptions options;
  options.max_steps = 1;
  options.accelerator = "cpu";
  options.devices = DeviceRequest::parse("0,2");
  static_cast<void>(cpu_devices());
  EXPECT_EQ(Trainer(options).strategy().devices(), cpus({0, 2}));
}

TEST(Trainer, SourcesThatCannotBeTrainedOn) {
  const auto text = [](data::DataSource& source, std::size_t devices = 1) {
    return error_text<ValueError>([&] {
      static_cast<void>(
          Trainer(quiet_options(devices, 3)).fit(count_step, counting_state(), source));
    });
  };
  // C005: an empty batch is refused and counts as no step.
  data::FunctionSource empty([](std::int64_t) { return Tree{{"x", host_array({}, {0, 3})}}; });
  EXPECT_THAT(text(empty), AllOf(HasSubstr("no rows"), HasSubstr("mean of nothing")));
  EXPECT_THAT(text(empty, 4), HasSubstr("no rows"));
  data::FunctionSource odd = ones_source(6);
  EXPECT_THAT(text(odd, 4), AllOf(HasSubstr("x"), HasSubstr("6"), HasSubstr("4")));
  // One whose later batch cannot be split ends there.
  data::FunctionSource later([](std::int64_t index) {
    const std::int64_t rows = index < 2 ? 4 : 3;
    return Tree{
        {"x", host_array(std::vector<float>(static_cast<std::size_t>(rows), 1.0F), {rows})}};
  });
  EXPECT_THAT(text(later, 4), AllOf(HasSubstr("x"), HasSubstr("3"), HasSubstr("4")));
  data::FunctionSource fine = ones_source(2);
  EXPECT_THAT(
      error_text<ValueError>([&] {
        static_cast<void>(
            Trainer(quiet_options(1, 1)).fit(count_step, counting_state(), fine, {}, &fine));
      }),
      AllOf(HasSubstr("validation"), HasSubstr("evaluation step")));
}

}  // namespace
}  // namespace lockstep::testing
