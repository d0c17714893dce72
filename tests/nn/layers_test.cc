// Every layer's parameters and output against Flax (expected_layers.h, written by
// make_expected_layers.py).
#include <map>

#include "lockstep/nn/nn.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/tree/algorithms.h"
#include "nn_test_support.h"

namespace lockstep::nn {
namespace {

struct Case {
  Module module;
  Array input;
};

const std::map<std::string, Case>& cases() {
  static const Initializer normal = initializers::normal(1.0);
  static const std::map<std::string, Case> all = {
      {"dense", {Dense{.features = 5}, pattern({4, 3})}},
      {"dense_bias", {Dense{.features = 5, .bias_init = normal}, pattern({4, 3})}},
      {"dense_no_bias", {Dense{.features = 5, .use_bias = false}, pattern({4, 3})}},
      {"dense_three_axes",
       {Dense{.features = 4, .kernel_init = initializers::he_normal(), .bias_init = normal},
        pattern({2, 3, 5})}},
      {"dense_one_axis", {Dense{.features = 4, .bias_init = normal}, pattern({5})}},
      {"dense_bfloat16",
       {Dense{.features = 4, .dtype = bfloat16, .bias_init = normal}, pattern({2, 3})}},
      {"dense_bfloat16_parameters",
       {Dense{.features = 4, .param_dtype = bfloat16}, pattern({2, 3}, bfloat16)}},
      {"dense_integers", {Dense{.features = 3}, reshape(arange(8), {2, 4})}},
      {"conv",
       {Conv{.features = 4, .kernel_size = {3, 3}, .bias_init = normal}, pattern({2, 5, 6, 3})}},
      {"conv_even_kernel", {Conv{.features = 2, .kernel_size = {2, 4}}, pattern({1, 5, 5, 2})}},
      {"conv_strided",
       {Conv{.features = 4, .kernel_size = {3, 2}, .strides = {2, 1}, .padding = "VALID"},
        pattern({2, 6, 5, 3})}},
      {"conv_strided_same",
       {Conv{.features = 2, .kernel_size = {3, 3}, .strides = {2, 2}}, pattern({1, 6, 5, 2})}},
      {"conv_dilated",
       {Conv{.features = 3, .kernel_size = {3, 3}, .kernel_dilation = {2, 1}},
        pattern({1, 7, 5, 2})}},
      {"conv_input_dilated",
       {Conv{.features = 2,
             .kernel_size = {3, 3},
             .padding = {{1, 1}, {2, 2}},
             .input_dilation = {2, 2}},
        pattern({1, 3, 4, 2})}},
      {"conv_grouped",
       {Conv{.features = 6, .kernel_size = {3, 3}, .feature_group_count = 3},
        pattern({2, 4, 4, 6})}},
      {"conv_depthwise",
       {Conv{.features = 4, .kernel_size = {3, 3}, .feature_group_count = 4, .use_bias = false},
        pattern({1, 4, 4, 4})}},
      {"conv_padded",
       {Conv{.features = 2, .kernel_size = {3, 3}, .padding = {{1, 2}, {0, 1}}, .use_bias = false},
        pattern({1, 4, 5, 2})}},
      {"conv_one_axis",
       {Conv{.features = 3, .kernel_size = {3}, .bias_init = normal}, pattern({2, 7, 2})}},
      {"conv_three_axes",
       {Conv{.features = 2, .kernel_size = {2, 2, 2}}, pattern({1, 3, 3, 3, 2})}},
      {"conv_no_batch", {Conv{.features = 2, .kernel_size = {3, 3}}, pattern({4, 4, 2})}},
      {"conv_two_batches", {Conv{.features = 2, .kernel_size = {3, 3}}, pattern({2, 2, 4, 4, 2})}},
      {"embed",
       {Embed{.num_embeddings = 7, .features = 4},
        HostTensor::from(std::vector<std::int32_t>{0, 6, 3, 3}, {2, 2})}},
      {"embed_bfloat16",
       {Embed{.num_embeddings = 5, .features = 3, .dtype = bfloat16},
        HostTensor::from(std::vector<std::int32_t>{4, 0}, {2})}},
      {"layer_norm", {LayerNorm{.scale_init = normal, .bias_init = normal}, pattern({3, 6})}},
      {"layer_norm_plain",
       {LayerNorm{.epsilon = 1e-3, .use_bias = false, .use_scale = false}, pattern({2, 2, 5})}},
      {"layer_norm_bfloat16", {LayerNorm{.scale_init = normal}, pattern({2, 5}, bfloat16)}},
      {"mlp",
       {Sequential{Dense{.features = 8, .bias_init = normal}, relu, Dense{.features = 3}},
        pattern({4, 6})}},
      {"cnn",
       {Sequential{Conv{.features = 4, .kernel_size = {3, 3}}, relu,
                   MaxPool{{.window_shape = {2, 2}, .strides = {2, 2}}}, Flatten{},
                   Dense{.features = 3}},
        pattern({2, 6, 6, 1})}},
      {"nested",
       {Sequential{Sequential{Dense{.features = 4}, [](const Array& x) { return tanh(x); }},
                   LayerNorm{}, Dense{.features = 2}},
        pattern({3, 5})}},
  };
  return all;
}

// Sums of a few hundred products in another order; bfloat16 has eight bits. In "nested" the norm
// divides differences of saturated tanhs, whose rounding is another in another program, by their
// small deviation.
double tolerance_of(const std::string& layer, const ExpectedTensor& expected) {
  if (layer == "nested") return 5e-4;
  return expected.dtype == "bfloat16" ? 8e-3 : 2e-6;
}

class Layers : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Layers, ::testing::ValuesIn(names_of(expected_layers)),
                         parameter_name);

TEST_P(Layers, ParametersHaveFlaxsNamesAndBits) {
  const Case& layer = cases().at(GetParam());
  const auto& expected = expected_layers.at(GetParam()).params;
  const Tree params = layer.module.init(random::key(0), layer.input);
  std::vector<std::string> paths;
  for_each_leaf(params, [&](const KeyPath& path, const Array& leaf) {
    paths.push_back(to_string(path));
    ASSERT_TRUE(expected.contains(paths.back())) << paths.back();
    EXPECT_TRUE(leaf.to_host().identical(tensor_of(expected.at(paths.back())))) << paths.back();
  });
  EXPECT_EQ(paths, names_of(expected));
}

TEST_P(Layers, OutputIsFlaxs) {
  const Case& layer = cases().at(GetParam());
  const ExpectedTensor& expected = expected_layers.at(GetParam()).output;
  const Tree params = layer.module.init(random::key(0), layer.input);
  expect_near(layer.module.apply(params, layer.input), expected,
              tolerance_of(GetParam(), expected));
  const auto compiled =
      jit([&](const Tree& p, const Array& x) { return layer.module.apply(p, x); });
  expect_near(compiled(params, layer.input), expected, tolerance_of(GetParam(), expected));
}

TEST_P(Layers, ParametersMadeInsideATraceAreTheSame) {
  const Case& layer = cases().at(GetParam());
  const auto init = jit([&](const Array& key) {
    return layer.module.init(random::Key(key), layer.input.abstract_value());
  });
  const Tree params = layer.module.init(random::key(0), layer.input);
  if (params.is_none() || flatten(params).empty()) return;
  const Tree compiled = init(random::key(0).data());
  (void)map_tree(
      [](const Array& a, const Array& b) {
        EXPECT_EQ(a.abstract_value().dtype, b.abstract_value().dtype);
        const std::vector<double> expected = doubles_of(a);
        const std::vector<double> found = doubles_of(b);
        // Compiled as one program, a product and a sum may become one rounding.
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_NEAR(found[i], expected[i], 4e-6 * std::abs(expected[i]));
        }
        return a;
      },
      params, compiled);
}

TEST(Layers, EveryCaseHasItsNumbers) {
  EXPECT_EQ(names_of(cases()), names_of(expected_layers));
}

TEST(EmbedLayer, AttendIsTheProductWithEveryRow) {
  const Embed embed{.num_embeddings = 5, .features = 3};
  const Tree params = embed.init(random::key(1), AbstractValue{{2}, int32});
  const std::vector<double> table = doubles_of(params["embedding"]);
  const Array query = pattern({2, 2, 3});
  const std::vector<double> q = doubles_of(query);
  const Array logits = embed.attend(params, query);
  ASSERT_EQ(logits.shape(), (Shape{2, 2, 5}));
  const std::vector<double> found = doubles_of(logits);
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t entry = 0; entry < 5; ++entry) {
      double sum = 0;
      for (std::size_t i = 0; i < 3; ++i) sum += q[3 * row + i] * table[3 * entry + i];
      EXPECT_NEAR(found[5 * row + entry], sum, 1e-5);
    }
  }
}

TEST(EmbedLayer, IndicesOutOfRangeGiveNaN) {
  const Embed embed{.num_embeddings = 3, .features = 2};
  const Tree params = embed.init(random::key(1), AbstractValue{{3}, int32});
  const Array found =
      embed.apply(params, HostTensor::from(std::vector<std::int32_t>{2, 3, -1}, {3}));
  const std::vector<double> values = doubles_of(found);
  const std::vector<double> table = doubles_of(params["embedding"]);
  EXPECT_EQ(values[0], table[4]);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_TRUE(std::isnan(values[3]));
}

}  // namespace
}  // namespace lockstep::nn
