// Data-parallel training beside processes that keep every core busy: no hang, no abort in the
// runtime's rendezvous of CPU devices, with the default bound on steps in flight.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "support/sanitizers.h"
#include "train/train_test_support.h"

namespace lockstep::testing {
namespace {

// One spinning process for each core, and one more, for the scope.
class BusyCores {
 public:
  BusyCores() {
    for (unsigned i = 0; i <= std::thread::hardware_concurrency(); ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (unsigned spin = 1;; ++spin) {
          if (spin == 0 && getppid() == 1) _exit(0);  // left alone by its parent
          __asm__ volatile("" : "+r"(spin));
        }
      }
      children_.push_back(child);
    }
  }
  ~BusyCores() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;

 private:
  std::vector<pid_t> children_;
};

class UnderLoad : public ::testing::TestWithParam<std::size_t> {};

TEST_P(UnderLoad, TwoThousandTinyStepsTenTimes) {
  if (is_sanitized)
    GTEST_SKIP() << "the runtime is not instrumented, and this is about the runtime";
  const BusyCores busy;
  for (int run = 0; run < 10; ++run) {
    TrainerOptions options = quiet_options(GetParam(), 2000);
    options.log_every_n_steps = 2000;
    data::FunctionSource source = ones_source(8);
    const FitResult result = Trainer(options).fit(count_step, counting_state(), source);
    ASSERT_EQ(result.step, 2000);
    ASSERT_EQ(result.metrics.at("loss"), 2000.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, UnderLoad, ::testing::Values(2, 4, 8));

}  // namespace
}  // namespace lockstep::testing
