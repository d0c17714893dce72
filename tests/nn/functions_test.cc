// Activations, losses, pooling and metrics against JAX, Flax and Optax (expected_layers.h).
#include <map>

#include "lockstep/nn/nn.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/ops.h"
#include "nn_test_support.h"

namespace lockstep::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Function = std::function<Array(const Array&)>;
using Table = std::map<std::string, Function>;

const Table& activations() {
  static const Table all = {
      {"sigmoid", [](const Array& x) { return sigmoid(x); }},
      {"tanh", [](const Array& x) { return tanh(x); }},
      {"relu", relu},
      {"relu6", relu6},
      {"silu", silu},
      {"swish", swish},
      {"softplus", softplus},
      {"log_sigmoid", log_sigmoid},
      {"soft_sign", soft_sign},
      {"hard_tanh", hard_tanh},
      {"hard_sigmoid", hard_sigmoid},
      {"hard_silu", hard_silu},
      {"selu", selu},
      {"mish", mish},
      {"gelu", [](const Array& x) { return gelu(x); }},
      {"gelu_exact", [](const Array& x) { return gelu(x, false); }},
      {"elu", [](const Array& x) { return elu(x); }},
      {"elu_half", [](const Array& x) { return elu(x, 0.5); }},
      {"celu", [](const Array& x) { return celu(x); }},
      {"celu_two", [](const Array& x) { return celu(x, 2.0); }},
      {"leaky_relu", [](const Array& x) { return leaky_relu(x); }},
      {"leaky_relu_fifth", [](const Array& x) { return leaky_relu(x, 0.2); }},
      {"glu", [](const Array& x) { return glu(x); }},
      {"softmax", [](const Array& x) { return softmax(x); }},
      {"log_softmax", [](const Array& x) { return log_softmax(x); }},
  };
  return all;
}

const Table& losses() {
  static const Array labels = tensor_of(loss_labels);
  static const Array targets = tensor_of(loss_targets);
  static const Table all = {
      {"softmax_cross_entropy_with_integer_labels",
       [](const Array& x) { return softmax_cross_entropy_with_integer_labels(x, labels); }},
      {"softmax_cross_entropy",
       [](const Array& x) { return softmax_cross_entropy(x, softmax(targets)); }},
      {"sigmoid_binary_cross_entropy",
       [](const Array& x) { return sigmoid_binary_cross_entropy(x, sigmoid(targets)); }},
      {"squared_error", [](const Array& x) { return squared_error(x, targets); }},
      {"l2_loss", [](const Array& x) { return l2_loss(x, targets); }},
      {"huber_loss", [](const Array& x) { return huber_loss(x, targets); }},
      {"huber_loss_quarter", [](const Array& x) { return huber_loss(x, targets, 0.25); }},
  };
  return all;
}

const Table& pools() {
  static const Table all = {
      {"max_pool", MaxPool{{.window_shape = {2, 2}, .strides = {2, 2}}}},
      {"max_pool_same", MaxPool{{.window_shape = {3, 2}, .strides = {2, 2}, .padding = "SAME"}}},
      {"max_pool_padded", MaxPool{{.window_shape = {2, 3}, .padding = {{1, 0}, {1, 2}}}}},
      {"min_pool",
       [](const Array& x) {
         return min_pool(x, {.window_shape = {2, 2}, .strides = {1, 2}});
       }},
      {"avg_pool", AvgPool{{.window_shape = {2, 2}, .strides = {2, 2}}}},
      {"avg_pool_same", AvgPool{{.window_shape = {3, 3}, .strides = {2, 2}, .padding = "SAME"}}},
      {"avg_pool_same_without_pad", AvgPool{{.window_shape = {3, 3},
                                             .strides = {2, 2},
                                             .padding = "SAME",
                                             .count_include_pad = false}}},
  };
  return all;
}

void expect_function(const Function& function, const Array& x, const ExpectedFunction& expected,
                     const Array& weights, double tolerance, double absolute = 1e-37) {
  const Array value = function(x);
  expect_relative(value, expected.value, tolerance, absolute);
  const Array gradient = grad([&](const Array& y) { return sum(function(y) * weights); })(x);
  expect_near(gradient, expected.gradient, tolerance);
}

class Activations : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Activations, ::testing::ValuesIn(names_of(expected_activations)),
                         parameter_name);

TEST_P(Activations, ValuesAndGradientsAreJaxs) {
  const auto length = static_cast<std::int64_t>(activation_argument.size());
  const Array x = cast(HostTensor::from(activation_argument, {length}), float32);
  const ExpectedFunction& expected = expected_activations.at(GetParam());
  const Array weights = arange(1, expected.value.shape.front() + 1, 1, float32);
  // gelu is x (1 + erf) / 2, which far below 0 keeps the rounding of 1.
  const double absolute = GetParam() == "gelu_exact" ? 4e-7 : 1e-37;
  expect_function(activations().at(GetParam()), x, expected, weights, 2e-6, absolute);
}

TEST_P(Activations, KeepHalfPrecision) {
  const Array x = pattern({4, 4}, bfloat16);
  EXPECT_EQ(activations().at(GetParam())(x).dtype(), bfloat16);
}

class Losses : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Losses, ::testing::ValuesIn(names_of(expected_losses)),
                         parameter_name);

TEST_P(Losses, ValuesAndGradientsAreOptaxs) {
  expect_function(losses().at(GetParam()), tensor_of(loss_logits), expected_losses.at(GetParam()),
                  1.0, 2e-6);
}

class Pools : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Pools, ::testing::ValuesIn(names_of(expected_pools)), parameter_name);

TEST_P(Pools, ValuesAndGradientsAreFlaxs) {
  expect_function(pools().at(GetParam()), pattern({2, 5, 6, 2}), expected_pools.at(GetParam()), 1.0,
                  2e-6);
}

TEST(FunctionTables, AreComplete) {
  EXPECT_EQ(names_of(activations()), names_of(expected_activations));
  EXPECT_EQ(names_of(losses()), names_of(expected_losses));
  EXPECT_EQ(names_of(pools()), names_of(expected_pools));
}

TEST(Glu, AnOddLengthIsRefused) {
  EXPECT_THAT(error_text([] {
                (void)glu(pattern({2, 3}));
              }),
              AllOf(HasSubstr("[glu]"), HasSubstr("(2, 3)"), HasSubstr("odd length 3")));
}

TEST(CrossEntropy, IntegerLabelsOfEitherFunctionAreTheSame) {
  const Array logits = tensor_of(loss_logits);
  const Array labels = tensor_of(loss_labels);
  EXPECT_EQ(softmax_cross_entropy(logits, labels).to_vector<float>(),
            softmax_cross_entropy_with_integer_labels(logits, labels).to_vector<float>());
}

TEST(CrossEntropy, LabelsCountFromTheEndAndOutOfRangeGiveNaN) {
  const Array logits = pattern({4, 3});
  const auto loss = [&](std::vector<std::int32_t> labels) {
    return softmax_cross_entropy_with_integer_labels(logits, HostTensor::from(labels, {4}))
        .to_vector<float>();
  };
  EXPECT_EQ(loss({-1, -2, -3, -1}), loss({2, 1, 0, 2}));
  const std::vector<float> found = loss({3, -4, 0, 100});
  EXPECT_TRUE(std::isnan(found[0]));
  EXPECT_TRUE(std::isnan(found[1]));
  EXPECT_FALSE(std::isnan(found[2]));
  EXPECT_TRUE(std::isnan(found[3]));
}

TEST(CrossEntropy, LabelsOfEveryIntegerTypeServe) {
  const Array logits = pattern({3, 4});
  const Array labels = HostTensor::from(std::vector<std::int32_t>{3, 0, 2}, {3});
  const auto expected = softmax_cross_entropy(logits, labels).to_vector<float>();
  for (const DType dtype : {uint8, int8, uint16, int64, uint64}) {
    EXPECT_EQ(softmax_cross_entropy(logits, astype(labels, dtype)).to_vector<float>(), expected);
  }
}

TEST(CrossEntropy, ShapesThatDoNotFitAreNamed) {
  const Array logits = pattern({4, 3});
  for (const Shape& shape : {Shape{3}, Shape{4, 1}, Shape{}}) {
    EXPECT_THAT(error_text([&] { (void)softmax_cross_entropy(logits, zeros(shape, int32)); }),
                AllOf(HasSubstr("[softmax_cross_entropy]"), HasSubstr("float32[4,3]"),
                      HasSubstr("int32["), HasSubstr("one-hot")));
  }
  EXPECT_THAT(
      error_text([&] { (void)softmax_cross_entropy_with_integer_labels(logits, zeros({4})); }),
      AllOf(HasSubstr("[softmax_cross_entropy_with_integer_labels]"), HasSubstr("float32[4]"),
            HasSubstr("labels must be integers")));
  EXPECT_THAT(error_text([] {
                (void)softmax_cross_entropy(zeros({4, 3}, int32), zeros({4}, int32));
              }),
              AllOf(HasSubstr("logits are int32[4,3]"), HasSubstr("must be floating")));
}

TEST(Errors, AreNotBroadcast) {
  const Array column = pattern({4, 1});
  const Array row = pattern({4});
  using Loss = Array (*)(const Array&, const Array&);
  for (const auto& [name, loss] : {std::pair<const char*, Loss>{"squared_error", squared_error},
                                   {"l2_loss", l2_loss},
                                   {"mse", mse}}) {
    EXPECT_THAT(error_text([&, loss = loss] { (void)loss(column, row); }),
                AllOf(HasSubstr("[" + std::string(name) + "]"), HasSubstr("(4, 1)"),
                      HasSubstr("(4,)"), HasSubstr("must be equal"), HasSubstr("reshape")));
  }
  EXPECT_THAT(error_text([&] { (void)huber_loss(column, row); }), HasSubstr("[huber_loss]"));
  EXPECT_THAT(error_text([] { (void)mse(zeros({2}, int32), zeros({2})); }),
              AllOf(HasSubstr("[mse] predictions are int32[2]"), HasSubstr("floating")));
}

TEST(Mse, IsTheMeanOfAllElements) {
  const Array predictions = pattern({3, 5});
  const Array targets = pattern({5, 3});
  const std::vector<double> p = doubles_of(predictions);
  const std::vector<double> t = doubles_of(targets);
  double total = 0;
  for (std::size_t i = 0; i < p.size(); ++i) total += (p[i] - t[i]) * (p[i] - t[i]);
  EXPECT_NEAR(mse(predictions, reshape(targets, {3, 5})).item<double>(), total / 15, 1e-5);
}

TEST(Accuracy, IsTheShareOfRowsWhoseLargestLogitIsTheLabels) {
  // Row 1 has two largest logits: the first counts.
  const Array logits =
      HostTensor::from(std::vector<float>{1, 3, 2, 5, 0, 5, -1, -2, -3, 0, 0, 1}, {4, 3});
  const Array labels = HostTensor::from(std::vector<std::int32_t>{1, 0, 2, 2}, {4});
  EXPECT_EQ(accuracy(logits, labels).item<float>(), 0.75F);
  EXPECT_EQ(accuracy(logits, labels).dtype(), float32);
  EXPECT_EQ(accuracy(logits, astype(labels, uint8)).item<float>(), 0.75F);
  const Array one_hot = astype(expand_dims(labels, -1) == arange(3), float32);
  EXPECT_EQ(accuracy(logits, one_hot).item<float>(), 0.75F);
  EXPECT_THAT(error_text([&] { (void)accuracy(logits, zeros({3}, int32)); }),
              AllOf(HasSubstr("[accuracy]"), HasSubstr("float32[4,3]"), HasSubstr("int32[3]")));
}

TEST(Flatten, KeepsTheBatchAxis) {
  const Array x = pattern({2, 3, 4});
  EXPECT_EQ(Flatten{}(x).shape(), (Shape{2, 12}));
  EXPECT_EQ(Flatten{}(x).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(Flatten{}(pattern({5})).shape(), (Shape{5, 1}));
  EXPECT_EQ(Flatten{}(zeros({0, 2, 2})).shape(), (Shape{0, 4}));
  EXPECT_THAT(error_text([] { (void)Flatten{}(zeros({})); }),
              AllOf(HasSubstr("[Flatten]"), HasSubstr("scalar")));
}

}  // namespace
}  // namespace lockstep::nn
