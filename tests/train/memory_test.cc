// Training neither grows nor leaks.
#include <fstream>
#include <string>

#include "lockstep/data/loader.h"
#include "lockstep/nn/nn.h"
#include "lockstep/optim/adam.h"
#include "lockstep/pjrt/buffer.h"
#include "support/sanitizers.h"
#include "train/train_test_support.h"

namespace lockstep::testing {
namespace {

// Kilobytes of /proc/self/status under `name`.
std::int64_t status_kilobytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != name + ":") continue;
    std::int64_t value = 0;
    status >> value;
    return value;
  }
  return -1;
}

data::Dataset small_dataset() {
  const std::int64_t rows = 512;
  const std::vector<float> x = random::uniform(random::key(0), {rows * 64}).to_vector<float>();
  std::vector<std::int32_t> y(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::int32_t>(i % 4);
  return data::Dataset(
      {{"x", {HostTensor::from(x, {rows, 64})}}, {"y", {HostTensor::from(y, {rows})}}});
}

const nn::Module& model() {
  static const nn::Module mlp = nn::Sequential{nn::Dense{32}, nn::relu, nn::Dense{4}};
  return mlp;
}

Objective loss(const Tree& params, const Tree& batch, const random::Key&) {
  return {mean(nn::softmax_cross_entropy_with_integer_labels(
      model().apply(params, batch["x"].leaf()), batch["y"].leaf()))};
}

TEST(Memory, AFitGivesEveryBufferBack) {
  static_cast<void>(cpu_devices());
  const std::int64_t before = pjrt::num_live_buffers();
  for (const std::size_t devices : {1, 2, 8}) {
    data::BatchLoader loader(small_dataset(), {.batch_size = 64});
    data::BatchLoader validation(small_dataset(),
                                 {.batch_size = 60, .shuffle = false, .drop_last = false});
    static_cast<void>(Trainer(quiet_options(devices, 30))
                          .fit(loss, model(), optim::adam(1e-3), loader, &validation));
  }
  EXPECT_EQ(pjrt::num_live_buffers(), before);
}

TEST(Memory, AFailedFitGivesEveryBufferBack) {
  static_cast<void>(cpu_devices());
  const std::int64_t before = pjrt::num_live_buffers();
  {
    data::FunctionSource source([](std::int64_t index) {
      if (index == 5) throw RuntimeError("the disk is gone");
      return Tree{{"x", host_array({1, 1}, {2})}};
    });
    EXPECT_THROW(
        static_cast<void>(Trainer(quiet_options(2, 30)).fit(count_step, counting_state(), source)),
        RuntimeError);
  }
  EXPECT_EQ(pjrt::num_live_buffers(), before);
}

// Samples the peak after step 100 and at the end.
class PeakWatch final : public Callback {
 public:
  void on_train_step_end(FitContext& context) override {
    if (context.step() == 100) early = status_kilobytes("VmHWM");
  }
  std::int64_t early = 0;
};

TEST(Memory, FiveThousandStepsDoNotGrow) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer keeps freed memory on purpose";
  const auto watch = std::make_shared<PeakWatch>();
  TrainerOptions options = quiet_options(2, 5000);
  options.callbacks = {watch};
  options.max_epochs.reset();
  data::BatchLoader loader(small_dataset(), {.batch_size = 64});
  static_cast<void>(Trainer(options).fit(loss, model(), optim::adam(1e-3), loader));
  ASSERT_GT(watch->early, 0);
  const std::int64_t late = status_kilobytes("VmHWM");
  EXPECT_LE(static_cast<double>(late), 1.02 * static_cast<double>(watch->early))
      << watch->early << " kB after step 100, " << late << " kB after step 5000";
}

}  // namespace
}  // namespace lockstep::testing
