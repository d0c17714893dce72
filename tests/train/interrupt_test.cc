// SIGINT during a fit, in this process. (The tool's tests send it from outside.)
#include <csignal>

#include "train/train_test_support.h"

namespace lockstep::testing {
namespace {

class InterruptAt final : public Callback {
 public:
  explicit InterruptAt(std::int64_t step) : step_(step) {}
  void on_train_step_end(FitContext& context) override {
    if (context.step() == step_) std::raise(SIGINT);
  }

 private:
  std::int64_t step_;
};

// A shell starts what it runs in the background with SIGINT ignored, and a fit would go on so.
class Interrupt : public ::testing::Test {
 protected:
  Interrupt() : former_(std::signal(SIGINT, SIG_DFL)) {}
  ~Interrupt() override { std::signal(SIGINT, former_); }

 private:
  void (*former_)(int);
};
using InterruptDeathTest = Interrupt;

TEST_F(Interrupt, EndsTheFitWithTheLastCompletedState) {
  TrainerOptions options = quiet_options(2, 1000);
  const auto logger = std::make_shared<RecordingLogger>();
  options.loggers = {logger};
  options.callbacks = {std::make_shared<InterruptAt>(5)};
  data::FunctionSource source = ones_source(2);
  const FitResult result = Trainer(options).fit(count_step, counting_state(), source);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.step, 5);
  EXPECT_EQ(result.state["w"].leaf().item<float>(), 5.0F);
  EXPECT_EQ(logger->status, RunStatus::Interrupted);
  EXPECT_EQ(logger->rows.back().first, 5);
}

TEST_F(Interrupt, TheFormerHandlerComesBack) {
  static volatile std::sig_atomic_t calls = 0;
  struct sigaction mine {};
  mine.sa_handler = [](int) { calls = calls + 1; };
  struct sigaction former {};
  sigaction(SIGINT, &mine, &former);
  data::FunctionSource source = ones_source(2);
  static_cast<void>(Trainer(quiet_options(1, 3)).fit(count_step, counting_state(), source));
  std::raise(SIGINT);
  EXPECT_EQ(calls, 1);
  sigaction(SIGINT, &former, nullptr);
}

TEST_F(Interrupt, AFitAfterAnInterruptedOneRuns) {
  data::FunctionSource source = ones_source(2);
  TrainerOptions options = quiet_options(1, 1000);
  options.callbacks = {std::make_shared<InterruptAt>(2)};
  EXPECT_TRUE(Trainer(options).fit(count_step, counting_state(), source).interrupted);
  EXPECT_FALSE(Trainer(quiet_options(1, 3)).fit(count_step, counting_state(), source).interrupted);
}

TEST_F(InterruptDeathTest, TheSecondOneEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto interrupt_twice = [] {
    TrainerOptions options = quiet_options(1, 1000);
    options.callbacks = {std::make_shared<InterruptAt>(2), std::make_shared<InterruptAt>(2)};
    data::FunctionSource source = ones_source(2);
    static_cast<void>(Trainer(options).fit(count_step, counting_state(), source));
  };
  EXPECT_EXIT(interrupt_twice(), ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace lockstep::testing
