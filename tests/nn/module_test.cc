// Modules of every kind, Sequential, Scope, dropout, and errors of layers.
#include "lockstep/nn/module.h"

#include "lockstep/nn/nn.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/tree/algorithms.h"
#include "nn_test_support.h"

namespace lockstep::nn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::uint32_t> words(const random::Key& key) {
  return key.data().to_vector<std::uint32_t>();
}

// A type of the user's own.
struct Affine {
  float start = 2.0F;
  Tree init(Scope, const AbstractValue& sample) const {
    return Tree{{"scale", full({sample.shape.back()}, start, float32)}};
  }
  Array apply(const Tree& params, const Array& x) const { return x * params["scale"].leaf(); }
};

// One that behaves otherwise in training.
struct Noise {
  Tree init(Scope, const AbstractValue&) const { return {}; }
  Array apply(const Tree&, const Array& x) const { return x; }
  Array apply(const Tree&, const Array& x, Scope scope) const {
    return x + random::normal(scope.next_key(), x.shape());
  }
};

TEST(Module, IsAFunctionOrATypeWithInitAndApply) {
  const Array x = pattern({2, 3});
  const Module function([](const Array& y) { return y + 1.0; });
  EXPECT_TRUE(function.init(random::key(0), x).is_none());
  EXPECT_EQ(doubles_of(function.apply({}, x)), doubles_of(x + 1.0));
  const Module plain(relu);
  EXPECT_EQ(doubles_of(plain.apply({}, x)), doubles_of(maximum(x, 0.0)));
  const Module own(Affine{.start = 3.0F});
  const Tree params = own.init(random::key(0), x);
  EXPECT_EQ(structure_of(params).to_string(), "{'scale': *}");
  EXPECT_EQ(doubles_of(own.apply(params, x)), doubles_of(x * 3.0));
  EXPECT_EQ(doubles_of(own.apply(params, x, random::key(1))), doubles_of(x * 3.0));
}

TEST(Module, WithAScopeItBehavesAsInTraining) {
  const Array x = pattern({2, 3});
  const Module noise(Noise{});
  EXPECT_EQ(doubles_of(noise.apply({}, x)), doubles_of(x));
  const auto once = doubles_of(noise.apply({}, x, random::key(1)));
  EXPECT_NE(once, doubles_of(x));
  EXPECT_EQ(doubles_of(noise.apply({}, x, random::key(1))), once);
  EXPECT_NE(doubles_of(noise.apply({}, x, random::key(2))), once);
}

TEST(Scope, KeysDifferByPlaceAndNumberAndAreDrawnAlike) {
  Scope root(random::key(5));
  Scope same(random::key(5));
  const auto first = words(root.next_key());
  EXPECT_EQ(words(same.next_key()), first);
  EXPECT_NE(words(root.next_key()), first);
  EXPECT_NE(words(root.child("a").next_key()), first);
  EXPECT_NE(words(root.child("a").next_key()), words(root.child("b").next_key()));
  EXPECT_EQ(words(root.child("a").next_key()), words(same.child("a").next_key()))
      << "a child's keys do not depend on how many its parent has taken";
}

TEST(Sequential, NamesParametersByPosition) {
  const Sequential model{Dense{.features = 4}, relu, Affine{}, Flatten{}, Dense{.features = 2}};
  const Tree params = model.init(random::key(0), pattern({3, 5}));
  EXPECT_EQ(structure_of(params).to_string(),
            "{'layers_0': {'bias': *, 'kernel': *}, 'layers_2': {'scale': *}, 'layers_4': {'bias': "
            "*, 'kernel': *}}");
  EXPECT_EQ(params["layers_4"]["kernel"].leaf().shape(), (Shape{4, 2}));
  EXPECT_EQ(model.apply(params, pattern({3, 5})).shape(), (Shape{3, 2}));
  EXPECT_EQ(model.layers().size(), 5U);
}

TEST(Sequential, ShapesComeFromTheSampleWithoutComputing) {
  const Sequential model{Dense{.features = 4}, Dense{.features = 3}};
  const AbstractValue sample{{7, 6}, float32};
  const Tree params = model.init(random::key(0), sample);
  EXPECT_EQ(params["layers_0"]["kernel"].leaf().shape(), (Shape{6, 4}));
  EXPECT_EQ(params["layers_1"]["kernel"].leaf().shape(), (Shape{4, 3}));
}

TEST(Sequential, WithoutLayersIsRefused) {
  EXPECT_THAT(error_text([] { Sequential model(std::vector<Module>{}); }),
              AllOf(HasSubstr("[Sequential]"), HasSubstr("no layers")));
}

TEST(Sequential, IsDifferentiatedByItsParameters) {
  const Sequential model{Dense{.features = 4}, [](const Array& y) { return tanh(y); },
                         Dense{.features = 1}};
  const Array x = pattern({8, 3});
  Tree params = model.init(random::key(0), x);
  const auto loss = [&](const Tree& p) { return mean(square(model.apply(p, x) - 1.0)); };
  const auto step = jit([&](const Tree& p) {
    const auto [value, gradients] = value_and_grad(loss)(p);
    return std::pair(
        value, map_tree([](const Array& a, const Array& g) { return a - 0.1 * g; }, p, gradients));
  });
  double before = 0;
  double after = 0;
  for (int i = 0; i < 30; ++i) {
    const auto [value, next] = step(params);
    after = value.item<double>();
    if (i == 0) before = after;
    params = next;
  }
  EXPECT_LT(after, 0.5 * before);
}

TEST(Dropout, DrawsTheMaskThatFlaxDraws) {
  const Array x = pattern({4, 6});
  const random::Key key = random::key(3);
  const Tree none;
  const auto expect = [&](const std::string& name, const Module& module) {
    expect_near(module.apply(none, x, key), expected_dropouts.at(name), 1e-7);
  };
  expect("dropout", Dropout{.rate = 0.3});
  expect("dropout_broadcast", Dropout{.rate = 0.5, .broadcast_dims = {0}});
  expect("dropout_in_sequence", Sequential{Dropout{.rate = 0.25}, relu, Dropout{.rate = 0.5}});
}

TEST(Dropout, ZeroesTheRateAndScalesTheRest) {
  constexpr double rate = 0.3;
  const Dropout dropout{.rate = rate};
  const std::vector<double> found =
      doubles_of(dropout.apply({}, ones({200, 500}), Scope(random::key(0))));
  std::size_t zeros_found = 0;
  for (const double value : found) {
    if (value == 0) {
      ++zeros_found;
    } else {
      EXPECT_FLOAT_EQ(static_cast<float>(value), static_cast<float>(1 / (1 - rate)));
    }
  }
  // The standard deviation of the share is 0.0014.
  EXPECT_NEAR(static_cast<double>(zeros_found) / static_cast<double>(found.size()), rate, 0.006);
}

TEST(Dropout, BroadcastAxesShareOneDraw) {
  const Dropout dropout{.rate = 0.5, .broadcast_dims = {1}};
  const std::vector<double> found =
      doubles_of(dropout.apply({}, ones({50, 4}), Scope(random::key(2))));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], found[i / 4 * 4]);
}

TEST(Dropout, InEvaluationAndAtTheEndsOfTheRate) {
  const Array x = pattern({3, 4});
  EXPECT_EQ(Dropout{.rate = 0.5}.apply({}, x).impl(), x.impl());
  const Scope scope(random::key(0));
  EXPECT_EQ(Dropout{.rate = 0.0}.apply({}, x, scope).impl(), x.impl());
  EXPECT_EQ(doubles_of(Dropout{.rate = 1.0}.apply({}, x, scope)), std::vector<double>(12, 0.0));
  for (const double rate : {-0.1, 1.5, std::nan("")}) {
    EXPECT_THAT(error_text([&] { (void)Dropout{.rate = rate}.apply({}, x, scope); }),
                AllOf(HasSubstr("[Dropout]"), HasSubstr("rate is"), HasSubstr("from 0 to 1")));
  }
  EXPECT_EQ(Dropout{.rate = 0.5}.apply({}, pattern({3, 4}, bfloat16), scope).dtype(), bfloat16);
}

TEST(LayerErrors, InputsThatDoNotFitNameBothShapes) {
  const Dense dense{.features = 4};
  const Tree params = dense.init(random::key(0), pattern({2, 3}));
  EXPECT_THAT(error_text([&] {
                (void)dense.apply(params, pattern({2, 5}));
              }),
              AllOf(HasSubstr("[Dense]"), HasSubstr("(2, 5)"), HasSubstr("(3, 4)")));
  EXPECT_THAT(error_text([&] { (void)dense.apply(params, zeros({})); }), HasSubstr("[Dense]"));
  const Conv conv{.features = 4, .kernel_size = {3, 3}};
  const Tree kernel = conv.init(random::key(0), pattern({1, 5, 5, 2}));
  EXPECT_THAT(error_text([&] {
                (void)conv.apply(kernel, pattern({1, 5, 5, 3}));
              }),
              AllOf(HasSubstr("[Conv]"), HasSubstr("3 channels"), HasSubstr("(1, 5, 5, 3)"),
                    HasSubstr("(3, 3, 2, 4)")));
  EXPECT_THAT(error_text([&] {
                (void)conv.apply(kernel, pattern({5, 2}));
              }),
              AllOf(HasSubstr("[Conv]"), HasSubstr("(5, 2)"), HasSubstr("2 spatial axes")));
  const LayerNorm norm;
  const Tree scales = norm.init(random::key(0), pattern({2, 3}));
  EXPECT_THAT(error_text([&] {
                (void)norm.apply(scales, pattern({2, 4}));
              }),
              AllOf(HasSubstr("[LayerNorm]"), HasSubstr("(2, 4)"), HasSubstr("(3,)")));
  const Embed embed{.num_embeddings = 4, .features = 2};
  const Tree table = embed.init(random::key(0), AbstractValue{{2}, int32});
  EXPECT_THAT(error_text([&] { (void)embed.apply(table, pattern({2})); }),
              AllOf(HasSubstr("[Embed]"), HasSubstr("float32[2]"), HasSubstr("integers")));
  EXPECT_THAT(error_text([&] {
                (void)embed.attend(table, pattern({2, 3}));
              }),
              AllOf(HasSubstr("[Embed]"), HasSubstr("(2, 3)"), HasSubstr("(4, 2)")));
}

TEST(LayerErrors, OptionsThatCannotBeAreNamed) {
  const random::Key key = random::key(0);
  EXPECT_THAT(error_text([&] {
                (void)Dense{}.init(key, pattern({2, 3}));
              }),
              AllOf(HasSubstr("[Dense]"), HasSubstr("features is 0"), HasSubstr("positive")));
  EXPECT_THAT(error_text([&] { (void)Dense{.features = 2}.init(key, zeros({})); }),
              AllOf(HasSubstr("[Dense]"), HasSubstr("scalar")));
  EXPECT_THAT(error_text([&] {
                (void)Conv{.features = 2}.init(key, pattern({1, 4, 4, 2}));
              }),
              AllOf(HasSubstr("[Conv]"), HasSubstr("kernel_size is empty")));
  const Conv grouped{.features = 4, .kernel_size = {3, 3}, .feature_group_count = 3};
  EXPECT_THAT(error_text([&] {
                (void)grouped.init(key, pattern({1, 4, 4, 6}));
              }),
              AllOf(HasSubstr("[Conv]"), HasSubstr("features is 4"), HasSubstr("6 channels"),
                    HasSubstr("feature_group_count is 3")));
  EXPECT_THAT(error_text([&] {
                (void)Embed{.features = 2}.init(key, AbstractValue{{1}, int32});
              }),
              AllOf(HasSubstr("[Embed]"), HasSubstr("num_embeddings is 0")));
  EXPECT_THAT(error_text([&] { (void)LayerNorm{}.init(key, zeros({})); }),
              AllOf(HasSubstr("[LayerNorm]"), HasSubstr("scalar")));
}

TEST(LayerErrors, MissingParametersListThoseThereAre) {
  const Tree params{{"weight", zeros({3, 4})}};
  EXPECT_THAT(error_text([&] {
                (void)Dense{.features = 4}.apply(params, pattern({2, 3}));
              }),
              AllOf(HasSubstr("[Dense]"), HasSubstr("no parameter 'kernel'"),
                    HasSubstr("{'weight': *}"), HasSubstr("init of the same model")));
  const Sequential model{Dense{.features = 4}};
  EXPECT_THAT(error_text([&] {
                (void)model.apply(params, pattern({2, 3}));
              }),
              AllOf(HasSubstr("[Dense]"), HasSubstr("no parameter 'kernel'")));
}

}  // namespace
}  // namespace lockstep::nn
