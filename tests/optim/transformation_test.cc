#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "lockstep/optim/optim.h"
#include "lockstep/pjrt/runtime.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep::optim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Array vector(std::vector<float> values) {
  const auto length = static_cast<std::int64_t>(values.size());
  return HostTensor::from(values, {length});
}

TEST(Adam, StateHasOptaxsNames) {
  const Tree params{{"w", ones({3, 2})}};
  const Tree state = adam(constant_schedule(0.1)).init(params);
  EXPECT_EQ(structure_of(state).to_string(),
            "[{'count': *, 'mu': {'w': *}, 'nu': {'w': *}}, {'count': *}]");
  EXPECT_EQ(state[0]["count"].leaf().shape(), Shape{});
  EXPECT_EQ(state[0]["count"].leaf().dtype(), int32);
  EXPECT_EQ(structure_of(sgd(0.1, {.momentum = 0.9}).init(params)).to_string(),
            "[{'trace': {'w': *}}, None]");
  EXPECT_EQ(structure_of(adagrad(0.1).init(params)).to_string(),
            "[{'sum_of_squares': {'w': *}}, None]");
}

// python -c "import optax, jax.numpy as j; o = optax.adam(.1); p = j.zeros((3, 2)); s = o.init(p)
// for i in range(3): u, s = o.update(j.ones((3, 2)), s, p); p = optax.apply_updates(p, u)
// print(p[0, 0], s[0].count)"    (-0.29999796 3)
TEST(Adam, C001_CounterIsAScalarAndThreeStepsOfGradientOneGiveOptaxsNumber) {
  const GradientTransformation optimizer = adam(0.1);
  Tree params{{"weights", zeros({3, 2})}};
  Tree state = optimizer.init(params);
  const auto step = jit([&](const Tree& p, const Tree& s) {
    const Tree gradients = map_tree([](const Array& leaf) { return ones_like(leaf); }, p);
    const auto [updates, new_state] = optimizer.update(gradients, s, p);
    return std::pair(apply_updates(p, updates), new_state);
  });
  for (int i = 0; i < 3; ++i) std::tie(params, state) = step(params, state);
  EXPECT_EQ(state[0]["count"].leaf().shape(), Shape{});
  EXPECT_EQ(state[0]["count"].leaf().item<std::int32_t>(), 3);
  for (const float p : params["weights"].leaf().to_vector<float>()) {
    EXPECT_FLOAT_EQ(p, -0.29999796f);
  }
}

TEST(Adam, MomentsKeepTheirTypes) {
  const Tree params{{"w", ones({2}, bfloat16)}};
  const GradientTransformation optimizer = adam(0.1, {.mu_dtype = float32});
  const Tree state = optimizer.init(params);
  EXPECT_EQ(state[0]["mu"]["w"].leaf().dtype(), float32);
  EXPECT_EQ(state[0]["nu"]["w"].leaf().dtype(), bfloat16);
  const auto [updates, new_state] = optimizer.update(params, state, params);
  EXPECT_EQ(new_state[0]["mu"]["w"].leaf().dtype(), float32);
  EXPECT_EQ(new_state[0]["nu"]["w"].leaf().dtype(), bfloat16);
  EXPECT_EQ(apply_updates(params, updates)["w"].leaf().dtype(), bfloat16);
}

TEST(Adam, UpdateHasTheGradientsTypeInHalfPrecision) {
  const Tree params{{"w", ones({2}, bfloat16)}};
  const GradientTransformation optimizer = adam(constant_schedule(0.1));
  const auto [updates, state] = optimizer.update(params, optimizer.init(params), params);
  EXPECT_EQ(updates["w"].leaf().dtype(), bfloat16);
  EXPECT_EQ(structure_of(state), structure_of(optimizer.init(params)));
}

TEST(Adam, CounterStaysAtTheGreatestInt32) {
  const Tree params{{"w", ones({1})}};
  const GradientTransformation optimizer = scale_by_adam();
  Tree state = optimizer.init(params);
  constexpr std::int32_t greatest = std::numeric_limits<std::int32_t>::max();
  state["count"] = HostTensor::scalar(greatest - 1);
  state = optimizer.update(params, state, params).second;
  EXPECT_EQ(state["count"].leaf().item<std::int32_t>(), greatest);
  state = optimizer.update(params, state, params).second;
  EXPECT_EQ(state["count"].leaf().item<std::int32_t>(), greatest);
}

TEST(Adam, MomentsAreNotSharedSoThatBothMayBeDonated) {
  const Tree state = scale_by_adam().init(Tree{{"w", ones({2})}});
  EXPECT_NE(state["mu"]["w"].leaf().impl(), state["nu"]["w"].leaf().impl());
}

TEST(GradientTransformation, NamesWhereTreesDiffer) {
  const Tree params{{"dense", Tree{{"bias", ones({4})}, {"kernel", ones({3, 4})}}}};
  const Tree wrong_shape{{"dense", Tree{{"bias", ones({4})}, {"kernel", ones({4, 3})}}}};
  const Tree wrong_keys{{"dense", Tree{{"bias", ones({4})}, {"weight", ones({3, 4})}}}};
  const GradientTransformation optimizer = adam(0.1);
  const Tree state = optimizer.init(params);
  EXPECT_THAT(
      [&] { (void)optimizer.update(wrong_shape, state, params); },
      ThrowsMessage<ValueError>(AllOf(HasSubstr("[scale_by_adam]"), HasSubstr("dense/kernel"),
                                      HasSubstr("(4, 3)"), HasSubstr("(3, 4)"))));
  EXPECT_THAT([&] { (void)optimizer.update(wrong_keys, state, params); },
              ThrowsMessage<ValueError>(
                  AllOf(HasSubstr("scale_by_adam"), HasSubstr("dense"), HasSubstr("weight"))));
  EXPECT_THAT(
      [&] { (void)apply_updates(params, wrong_shape); },
      ThrowsMessage<ValueError>(AllOf(HasSubstr("[apply_updates]"), HasSubstr("dense/kernel"),
                                      HasSubstr("(4, 3)"), HasSubstr("(3, 4)"))));
  EXPECT_THAT(
      [&] { (void)optimizer.update(params, sgd(0.1, {.momentum = 0.9}).init(params), params); },
      ThrowsMessage<ValueError>(
          AllOf(HasSubstr("[scale_by_adam]"), HasSubstr("'mu'"), HasSubstr("init"))));
}

TEST(Chain, RefusesTheStateOfAnotherChain) {
  const Tree params{{"w", ones({2})}};
  const GradientTransformation optimizer = chain(clip_by_global_norm(1.0), sgd(0.1), scale(2.0));
  EXPECT_THAT([&] { (void)optimizer.update(params, sgd(0.1).init(params), params); },
              ThrowsMessage<ValueError>(
                  AllOf(HasSubstr("[chain]"), HasSubstr("a list of 3"), HasSubstr("a list of 2"))));
  EXPECT_THAT([&] { (void)optimizer.update(params, Tree(), params); },
              ThrowsMessage<ValueError>(AllOf(HasSubstr("[chain]"), HasSubstr("None"))));
}

TEST(Clip, GlobalNormIsThatOfAllLeaves) {
  const Tree tree{{"a", vector({3})}, {"b", Tree::list({vector({0, 4}), vector({12})})}};
  EXPECT_FLOAT_EQ(global_norm(tree).item<float>(), 13.0f);
  EXPECT_FLOAT_EQ(global_norm(Tree()).item<float>(), 0.0f);
}

TEST(Clip, LeavesSmallUpdatesAndScalesGreatOnes) {
  const Tree updates{{"a", vector({3})}, {"b", vector({4})}};
  const auto clipped = [&](double max_norm) {
    const Tree result = clip_by_global_norm(max_norm).update(updates, Tree(), Tree()).first;
    return std::vector<float>{result["a"].leaf().item<float>(), result["b"].leaf().item<float>()};
  };
  EXPECT_THAT(clipped(5.5), ElementsAre(3.0f, 4.0f));
  EXPECT_THAT(clipped(1.0), ElementsAre(testing::FloatEq(0.6f), testing::FloatEq(0.8f)));
  EXPECT_THAT(clip(3.5).update(updates, Tree(), Tree()).first["b"].leaf().to_vector<float>(),
              ElementsAre(3.5f));
}

TEST(Clip, ZeroGradientsStayZero) {
  const Tree updates{{"a", vector({0, 0})}};
  EXPECT_THAT(
      clip_by_global_norm(1.0).update(updates, Tree(), Tree()).first["a"].leaf().to_vector<float>(),
      ElementsAre(0.0f, 0.0f));
}

TEST(TrustRatio, IsOneWhereANormIsZero) {
  const Tree updates{{"w", vector({1, 2})}};
  const Tree zero{{"w", vector({0, 0})}};
  const GradientTransformation ratio = scale_by_trust_ratio();
  EXPECT_THAT(ratio.update(updates, Tree(), zero).first["w"].leaf().to_vector<float>(),
              ElementsAre(1.0f, 2.0f));
  EXPECT_THAT(ratio.update(zero, Tree(), updates).first["w"].leaf().to_vector<float>(),
              ElementsAre(0.0f, 0.0f));
}

TEST(Ema, DebiasedAverageOfAConstantIsTheConstant) {
  const GradientTransformation average = ema(0.9);
  const Tree value{{"w", vector({2, -4})}};
  Tree state = average.init(value);
  for (int i = 0; i < 3; ++i) {
    const auto [result, new_state] = average.update(value, state, Tree());
    const std::vector<float> found = result["w"].leaf().to_vector<float>();
    EXPECT_NEAR(found[0], 2.0f, 1e-5f);
    EXPECT_NEAR(found[1], -4.0f, 1e-5f);
    state = new_state;
  }
  EXPECT_EQ(state["count"].leaf().item<std::int32_t>(), 3);
  EXPECT_NEAR(state["ema"]["w"].leaf().to_vector<float>()[0], 2.0 * (1.0 - std::pow(0.9, 3)), 1e-6);
}

// The numbers are those of optax.apply_if_finite(optax.sgd(1.0, momentum=0.5), 2) on the same
// updates.
TEST(ApplyIfFinite, LeavesOutStepsUntilThereAreTooMany) {
  const GradientTransformation optimizer = apply_if_finite(sgd(1.0, {.momentum = 0.5}), 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Tree params{{"w", vector({0})}};
  Tree state = optimizer.init(params);
  const auto step = jit([&](const Tree& g, const Tree& s) { return optimizer.update(g, s, g); });
  const auto update = [&](float gradient) {
    const auto [updates, new_state] = step(Tree{{"w", vector({gradient})}}, state);
    state = new_state;
    return updates["w"].leaf().item<float>();
  };
  EXPECT_EQ(update(1.0f), -1.0f);
  EXPECT_EQ(update(nan), 0.0f);
  EXPECT_FALSE(state["last_finite"].leaf().item<bool>());
  EXPECT_EQ(state["inner_state"][0]["trace"]["w"].leaf().item<float>(), 1.0f);
  EXPECT_EQ(update(infinity), 0.0f);
  EXPECT_EQ(state["notfinite_count"].leaf().item<std::int32_t>(), 2);
  EXPECT_EQ(update(1.0f), -1.5f);
  EXPECT_TRUE(state["last_finite"].leaf().item<bool>());
  EXPECT_EQ(state["notfinite_count"].leaf().item<std::int32_t>(), 0);
  EXPECT_EQ(state["total_notfinite"].leaf().item<std::int32_t>(), 2);
  EXPECT_EQ(update(nan), 0.0f);
  EXPECT_EQ(update(nan), 0.0f);
  EXPECT_TRUE(std::isnan(update(nan))) << "the third in a row is let through";
}

TEST(AddDecayedWeights, ZeroDecayLeavesUpdatesAsTheyAre) {
  const Tree updates{{"w", vector({1, 2})}};
  EXPECT_EQ(add_decayed_weights(0.0).update(updates, Tree(), updates).first["w"].leaf().impl(),
            updates["w"].leaf().impl());
}

TEST(AddDecayedWeights, MaskSeesPathAndParameter) {
  const Tree params{{"bias", vector({10})}, {"kernel", vector({10})}};
  const Tree updates{{"bias", vector({1})}, {"kernel", vector({1})}};
  const Mask kernels = [](const KeyPath& path, const Array& p) {
    return to_string(path) == "kernel" && p.ndim() == 1;
  };
  const Tree result = add_decayed_weights(0.5, kernels).update(updates, Tree(), params).first;
  EXPECT_EQ(result["bias"].leaf().item<float>(), 1.0f);
  EXPECT_EQ(result["kernel"].leaf().item<float>(), 6.0f);
}

}  // namespace
}  // namespace lockstep::optim
