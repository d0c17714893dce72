// Twenty steps of every optimiser against Optax (expected_steps.h, written by
// make_expected_steps.py).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lockstep/optim/optim.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/tree/algorithms.h"
#include "optim/expected_steps.h"

namespace lockstep::optim {
namespace {

const std::map<std::string, std::function<GradientTransformation()>>& optimizers() {
  static const Schedule cosine = warmup_cosine_decay_schedule({.init_value = 0.0,
                                                               .peak_value = 0.1,
                                                               .warmup_steps = 5,
                                                               .decay_steps = 20,
                                                               .end_value = 0.01});
  static const Mask kernels = [](const KeyPath&, const Array& p) { return p.ndim() > 1; };
  static const std::map<std::string, std::function<GradientTransformation()>> all = {
      {"sgd", [] { return sgd(0.1); }},
      {"sgd_momentum", [] { return sgd(0.05, {.momentum = 0.9}); }},
      {"sgd_nesterov", [] { return sgd(0.05, {.momentum = 0.9, .nesterov = true}); }},
      {"adam", [] { return adam(0.1); }},
      {"adam_b1",
       [] { return adam(0.05, {.b1 = 0.8, .b2 = 0.95, .eps = 1e-6, .eps_root = 1e-9}); }},
      {"adam_schedule", [] { return adam(cosine); }},
      {"adamw", [] { return adamw(0.1, {.weight_decay = 0.02}); }},
      {"adamw_mask", [] { return adamw(0.1, {.weight_decay = 0.1, .mask = kernels}); }},
      {"adamw_decay_schedule", [] { return adamw(0.1, {.weight_decay = cosine}); }},
      {"nadam", [] { return nadam(0.1); }},
      {"nadamw", [] { return nadamw(0.1, {.weight_decay = 0.02}); }},
      {"adagrad", [] { return adagrad(0.5); }},
      {"rmsprop", [] { return rmsprop(0.05); }},
      {"rmsprop_corrected",
       [] { return rmsprop(0.05, {.eps_in_sqrt = false, .bias_correction = true}); }},
      {"rmsprop_centered",
       [] {
         return rmsprop(
             0.01, {.initial_scale = 1.0, .centered = true, .momentum = 0.9, .nesterov = true});
       }},
      {"lion", [] { return lion(0.05, {.weight_decay = 0.02}); }},
      {"lamb", [] { return lamb(0.1, {.weight_decay = 0.02}); }},
      {"clipped_sgd", [] { return chain(clip_by_global_norm(1.0), sgd(0.1)); }},
      {"clipped_elements", [] { return chain(clip(0.5), sgd(0.1, {.momentum = 0.5})); }},
      {"ema_of_updates", [] { return chain(ema(0.9), scale(-0.1)); }},
  };
  return all;
}

template <class T>
Tree tree_of(const std::vector<T>& b, const std::vector<T>& w) {
  return {{"b", HostTensor::from(b, {2})}, {"w", HostTensor::from(w, {3, 2})}};
}

// b and w, row-major, after twenty steps of `optimizer`, each a call of one compiled step.
template <class T>
std::vector<T> after_twenty_steps(const GradientTransformation& optimizer) {
  const Tree targets = tree_of<T>({-1, 2}, {1, T(0.5), -1, T(0.25), T(0.3), T(2.5)});
  const Tree curvatures = tree_of<T>({1, T(0.25)}, {1, 2, T(0.5), 3, T(0.1), T(1.5)});
  const auto step = jit([&](const Tree& params, const Tree& state) {
    const Tree gradients =
        map_tree([](const Array& p, const Array& t, const Array& c) { return c * (p - t); }, params,
                 targets, curvatures);
    const auto [updates, new_state] = optimizer.update(gradients, state, params);
    return std::pair(apply_updates(params, updates), new_state);
  });
  Tree params = tree_of<T>({T(0.3), T(-0.7)}, {T(0.5), T(-1.25), 2, T(0.75), T(-0.1), 3});
  Tree state = optimizer.init(params);
  for (int i = 0; i < 20; ++i) std::tie(params, state) = step(params, state);
  EXPECT_EQ(step.cache_size(), 1u) << "the state changes its type from one step to the next";
  std::vector<T> result = params["b"].leaf().template to_vector<T>();
  const std::vector<T> w = params["w"].leaf().template to_vector<T>();
  result.insert(result.end(), w.begin(), w.end());
  return result;
}

template <class T>
void expect_relative(const std::vector<T>& found, const std::vector<double>& expected,
                     double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(found[i]), expected[i], tolerance * std::abs(expected[i]))
        << "element " << i;
  }
}

class TwentySteps : public testing::TestWithParam<std::string> {};

TEST_P(TwentySteps, EqualOptaxInFloat32) {
  expect_relative(after_twenty_steps<float>(optimizers().at(GetParam())()),
                  expected_float32.at(GetParam()), 1e-6);
}

TEST_P(TwentySteps, EqualOptaxInFloat64) {
  const DefaultWidthScope wide(DefaultWidth::Bits64);
  expect_relative(after_twenty_steps<double>(optimizers().at(GetParam())()),
                  expected_float64.at(GetParam()), 1e-12);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& [name, numbers] : expected_float32) result.push_back(name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, TwentySteps, testing::ValuesIn(names()),
                         [](const auto& param_info) { return param_info.param; });

TEST(TwentySteps, EveryOptimizerHasItsNumbers) {
  std::vector<std::string> made;
  for (const auto& [name, make] : optimizers()) made.push_back(name);
  EXPECT_EQ(made, names());
  EXPECT_EQ(expected_float64.size(), made.size());
}

}  // namespace
}  // namespace lockstep::optim
