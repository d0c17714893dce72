// A data-parallel run follows the single-device run of the same global batches.
#include <cmath>

#include "lockstep/nn/nn.h"
#include "lockstep/optim/adam.h"
#include "lockstep/optim/sgd.h"
#include "train/train_test_support.h"

namespace lockstep::testing {
namespace {

constexpr std::int64_t num_steps = 50;

// Images whose class is the quarter with the brightest patch, so that there is something to learn.
Tree images(std::int64_t index, std::int64_t rows, bool flat) {
  const std::int64_t side = 8;
  const random::Key key = random::fold_in(random::key(3), index);
  std::vector<float> pixels = random::uniform(key, {rows * side * side}).to_vector<float>();
  const std::vector<std::int32_t> labels =
      random::randint(random::fold_in(key, 1), {rows}, 0, 4).to_vector<std::int32_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = labels[static_cast<std::size_t>(row)];
    for (std::int64_t y = 0; y < side / 2; ++y) {
      for (std::int64_t x = 0; x < side / 2; ++x) {
        const std::int64_t pixel =
            (row * side + y + (label / 2) * (side / 2)) * side + x + (label % 2) * (side / 2);
        pixels[static_cast<std::size_t>(pixel)] += 0.3F;
      }
    }
  }
  return Tree{
      {"image", host_array(pixels, flat ? Shape{rows, side * side} : Shape{rows, side, side, 1})},
      {"label", Array(HostTensor::from(labels, {rows}))}};
}

// The loss of every step.
std::vector<double> losses(std::size_t num_devices, const nn::Module& model,
                           const optim::GradientTransformation& optimizer, std::int64_t rows,
                           bool flat) {
  TrainerOptions options = quiet_options(num_devices, num_steps);
  options.log_every_n_steps = 1;
  const auto logger = std::make_shared<RecordingLogger>();
  options.loggers = {logger};
  data::FunctionSource source([&](std::int64_t index) { return images(index, rows, flat); });
  const LossFunction loss = [&](const Tree& params, const Tree& batch, const random::Key&) {
    return Objective{mean(nn::softmax_cross_entropy_with_integer_labels(
        model.apply(params, batch["image"].leaf()), batch["label"].leaf()))};
  };
  const FitResult result = Trainer(options).fit(loss, model, optimizer, source);
  EXPECT_EQ(result.step, num_steps);
  std::vector<double> values;
  for (const auto& [step, metrics] : logger->rows) values.push_back(metrics.at("loss"));
  return values;
}

void expect_close(const std::vector<double>& single, const std::vector<double>& parallel,
                  double tolerance) {
  ASSERT_EQ(single.size(), static_cast<std::size_t>(num_steps));
  ASSERT_EQ(parallel.size(), single.size());
  for (std::size_t i = 0; i < single.size(); ++i) {
    EXPECT_NEAR(parallel[i], single[i], tolerance * std::abs(single[i])) << "step " << i + 1;
  }
  EXPECT_LT(single.back(), 0.9 * single.front()) << "nothing was learnt, so nothing was compared";
}

class DataParallel : public ::testing::TestWithParam<std::size_t> {};

TEST_P(DataParallel, TheMlpFollowsTheSingleDevice) {
  const nn::Module mlp =
      nn::Sequential{nn::Dense{64}, nn::relu, nn::Dense{32}, nn::relu, nn::Dense{4}};
  const auto run = [&](std::size_t n) { return losses(n, mlp, optim::adam(1e-3), 64, true); };
  expect_close(run(1), run(GetParam()), 1e-5);
}

TEST_P(DataParallel, TheCnnFollowsTheSingleDevice) {
  const nn::Module cnn = nn::Sequential{nn::Conv{.features = 8, .kernel_size = {3, 3}}, nn::relu,
                                        nn::MaxPool{{.window_shape = {2, 2}, .strides = {2, 2}}},
                                        nn::Flatten{}, nn::Dense{4}};
  const auto run = [&](std::size_t n) {
    return losses(n, cnn, optim::sgd(0.05, {.momentum = 0.9}), 32, false);
  };
  expect_close(run(1), run(GetParam()), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Devices, DataParallel, ::testing::Values(2, 4, 8));

TEST(Determinism, TwoRunsGiveTheSameBits) {
  const nn::Module mlp = nn::Sequential{nn::Dense{32}, nn::relu, nn::Dense{4}};
  for (const std::size_t devices : {1, 4}) {
    EXPECT_EQ(losses(devices, mlp, optim::adam(1e-3), 32, true),
              losses(devices, mlp, optim::adam(1e-3), 32, true));
  }
}

}  // namespace
}  // namespace lockstep::testing
