// Convolution and pooling against JAX, and what they refuse.
#include "lockstep/trace/convolution.h"

#include "trace/expected_convolution.h"
#include "trace/op_cases.h"

namespace lockstep {
namespace {

void add_conv(OpCases& cases, const std::string& name, Shape lhs, Shape rhs,
              ConvOptions options = {}) {
  options.precision = Precision::Highest;
  cases[name] = of_two(
      [options](const Array& x, const Array& k) { return conv_general_dilated(x, k, options); },
      random_array(std::move(lhs)), random_array(std::move(rhs), -1, 1, 2));
}

void add_convolutions(OpCases& cases) {
  add_conv(cases, "conv", {2, 4, 5, 3}, {3, 2, 3, 2});
  add_conv(cases, "conv_same", {1, 4, 5, 2}, {3, 2, 2, 2}, {.padding = "SAME"});
  add_conv(cases, "conv_same_lower", {1, 4, 5, 2}, {3, 2, 2, 2}, {.padding = "SAME_LOWER"});
  add_conv(cases, "conv_strided_same", {1, 5, 4, 2}, {3, 3, 2, 2},
           {.window_strides = {2, 3}, .padding = "SAME"});
  add_conv(cases, "conv_explicit", {1, 4, 4, 1}, {2, 2, 1, 2},
           {.window_strides = {1, 2}, .padding = {{2, 0}, {-1, 1}}});
  add_conv(cases, "conv_dilated", {1, 6, 6, 1}, {2, 2, 1, 2}, {.rhs_dilation = {2, 3}});
  add_conv(cases, "conv_transposed", {1, 3, 3, 2}, {3, 3, 2, 1},
           {.padding = {{2, 1}, {1, 2}}, .lhs_dilation = {2, 2}});
  add_conv(cases, "conv_grouped", {1, 4, 4, 4}, {2, 2, 2, 6}, {.feature_group_count = 2});
  add_conv(cases, "conv_depthwise", {1, 4, 4, 3}, {2, 2, 1, 6}, {.feature_group_count = 3});
  add_conv(cases, "conv_batch_groups", {4, 3, 3, 1}, {2, 2, 1, 4}, {.batch_group_count = 2});
  add_conv(cases, "conv_nchw", {2, 3, 4, 4}, {2, 3, 3, 3},
           {.dimension_numbers = {"NCHW", "OIHW", "NCHW"}});
  add_conv(cases, "conv_1d", {2, 6, 2}, {3, 2, 3}, {.window_strides = {2}, .padding = "SAME"});
  add_conv(cases, "conv_3d", {1, 3, 3, 3, 1}, {2, 2, 2, 1, 2});
}

void add_pools(OpCases& cases) {
  const std::map<std::string, PoolOptions> pools = {
      {"valid", {.window_shape = {2, 2}, .strides = {2, 2}}},
      {"same", {.window_shape = {3, 2}, .strides = {2, 1}, .padding = "SAME"}},
      {"overlap", {.window_shape = {3, 3}}},
      {"padded", {.window_shape = {2, 2}, .strides = {2, 2}, .padding = {{1, 0}, {0, 1}}}}};
  const Array image = random_array({2, 4, 6, 2});
  for (const auto& [text, options] : pools) {
    cases["max_pool_" + text] =
        of_one([options = options](const Array& x) { return max_pool(x, options); }, image);
    cases["min_pool_" + text] =
        of_one([options = options](const Array& x) { return min_pool(x, options); }, image);
    cases["avg_pool_" + text] =
        of_one([options = options](const Array& x) { return avg_pool(x, options); }, image);
    PoolOptions exclusive = options;
    exclusive.count_include_pad = false;
    cases["avg_pool_" + text + "_exclusive"] =
        of_one([exclusive](const Array& x) { return avg_pool(x, exclusive); }, image);
  }
  const auto pairs = [](const Array& x) {
    return max_pool(x, {.window_shape = {2}, .strides = {2}});
  };
  cases["max_pool_ties"] = of_one(pairs, array_of<float>({1, 1, 2, 2, 0, 3}, {1, 6, 1}));
  cases["max_pool_int32"] = of_one(pairs, array_of<std::int32_t>({-5, -3, 2, 1}, {1, 4, 1}));
  const WindowOptions window{
      .window_dimensions = {2, 3}, .window_strides = {1, 2}, .padding = {{1, 0}, {0, 1}}};
  const Array x = random_array({3, 5});
  cases["reduce_window_sum"] =
      of_one([window](const Array& a) { return reduce_window_sum(a, window); }, x);
  cases["reduce_window_max"] =
      of_one([window](const Array& a) { return reduce_window_max(a, window); }, x);
  cases["reduce_window_min"] =
      of_one([window](const Array& a) { return reduce_window_min(a, window); }, x);
}

TEST(Convolution, EqualsJax) {
  OpCases cases;
  add_convolutions(cases);
  add_pools(cases);
  expect_cases(cases, expected_convolution);
}

TEST(Convolution, PoolingKeepsNan) {
  const Array x = array_of<float>({1, NAN, 2, 3}, {1, 4, 1});
  expect_near(max_pool(x, {.window_shape = {2}, .strides = {2}}), {NAN, 3});
  expect_near(min_pool(x, {.window_shape = {2}, .strides = {2}}), {NAN, 2});
}

TEST(Convolution, MisuseIsNamed) {
  const Array x = random_array({2, 4, 4, 3});
  const Array k = random_array({3, 3, 3, 8});
  const auto conv = [&](const Array& lhs, const Array& rhs, const ConvOptions& options = {}) {
    return [=] { (void)conv_general_dilated(lhs, rhs, options); };
  };
  const std::string where = "[conv_general_dilated]";
  expect_value_error(conv(x, random_array({3, 3, 4, 8})),
                     {where, "float32[2,4,4,3]", "float32[3,3,4,8]", "3", "4"});
  expect_value_error(conv(x, random_array({3, 3, 3})), {where, "equally many axes"});
  expect_value_error(conv(x, k, {.window_strides = {1}}), {where, "window_strides", "1", "2"});
  expect_value_error(conv(x, k, {.window_strides = {0, 1}, .padding = "SAME"}), {where, "0"});
  expect_value_error(conv(x, k, {.padding = "FULL"}), {where, "FULL", "SAME", "VALID"});
  expect_value_error(conv(x, k, {.padding = {{1, 1}}}),
                     {where, "padding", "1 entries", "2 spatial"});
  expect_value_error(conv(x, k, {.dimension_numbers = {"NHWC", "HWIO", "NHW"}}),
                     {where, "NHW", "4"});
  expect_value_error(conv(x, k, {.dimension_numbers = {"NHHC", "HWIO", "NHWC"}}), {where, "NHHC"});
  expect_value_error(conv(x, k, {.feature_group_count = 2}),
                     {where, "float32[3,3,3,8]", "times 2 groups"});
  expect_value_error(conv(x, k, {.batch_group_count = 3}), {where, "batch_group_count", "3"});
  expect_value_error(conv(x, k, {.feature_group_count = 0}), {where, "feature_group_count", "0"});
}

TEST(Convolution, MisuseOfPoolingIsNamed) {
  const Array x = random_array({2, 4, 4, 3});
  expect_value_error([&] { (void)max_pool(x, {.window_shape = {2}}); },
                     {"[max_pool]", "window_shape has 1", "float32[2,4,4,3]"});
  expect_value_error(
      [&] {
        (void)avg_pool(x, {.window_shape = {2, 0}});
      },
      {"[avg_pool]", "(2, 0)", "positive"});
  expect_value_error(
      [&] {
        (void)max_pool(x, {.window_shape = {2, 2}, .padding = "same"});
      },
      {"[max_pool]", "same", "SAME"});
  // A window that fits nowhere gives nothing, as in JAX.
  EXPECT_EQ(max_pool(x, {.window_shape = {5, 2}}).shape(), (Shape{2, 0, 3, 3}));
  expect_value_error([&] { (void)reduce_window_sum(x, {.window_dimensions = {2}}); },
                     {"[reduce_window_sum]", "float32[2,4,4,3]"});
}

}  // namespace
}  // namespace lockstep
