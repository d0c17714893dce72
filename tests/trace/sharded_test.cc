// Programs over a mesh give what one device gives, whatever the split.
#include "lockstep/strategy/data_parallel.h"
#include "lockstep/strategy/single_device.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/trace/random.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

std::vector<Device> first_devices(std::size_t count) {
  const std::vector<Device>& all = devices("cpu");
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

class OverDevices : public ::testing::TestWithParam<std::size_t> {
 protected:
  const DataParallelStrategy strategy_{first_devices(GetParam())};
  const SingleDeviceStrategy single_{devices("cpu")[0]};
};

INSTANTIATE_TEST_SUITE_P(Meshes, OverDevices, ::testing::Values(2, 4, 8));

Tree mlp_params() {
  return {{"w1", random_array({6, 16}, -0.5, 0.5, 1)},
          {"b1", random_array({16}, -0.1, 0.1, 2)},
          {"w2", random_array({16, 3}, -0.5, 0.5, 3)}};
}
Tree batch() {
  std::vector<std::int32_t> labels(16);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 3);
  return {{"x", random_array({16, 6}, -1, 1, 4)}, {"y", ints(labels)}};
}
Array mlp_loss(const Tree& params, const Tree& data) {
  const Array hidden = tanh(matmul(data["x"].leaf(), params["w1"].leaf()) + params["b1"].leaf());
  const Array logits = matmul(hidden, params["w2"].leaf());
  return -mean(sum(one_hot(data["y"].leaf(), 3) * log_softmax(logits), {.axis = -1}));
}

TEST_P(OverDevices, AStepGivesTheSameAsOnOneDevice) {
  const auto step = jit([](const Tree& params, const Tree& data) {
    const auto [loss, gradients] = value_and_grad(mlp_loss)(params, data);
    Tree next;
    for (const char* name : {"w1", "b1", "w2"}) {
      next[name] = params[name].leaf() - 0.5 * gradients[name].leaf();
    }
    return std::pair(next, loss);
  });
  Tree alone = single_.place_state(mlp_params());
  Tree together = strategy_.place_state(mlp_params());
  const Tree one_batch = single_.place_batch(batch());
  const Tree split_batch = strategy_.place_batch(batch());
  Array loss_alone;
  Array loss_together;
  for (int i = 0; i < 10; ++i) {
    std::tie(alone, loss_alone) = step(alone, one_batch);
    std::tie(together, loss_together) = step(together, split_batch);
    expect_near(loss_together, as_doubles(loss_alone), 1e-6);
  }
  for (const char* name : {"w1", "b1", "w2"}) {
    const Array& w = together[name].leaf();
    expect_near(w, as_doubles(alone[name].leaf()), 1e-5);
    EXPECT_EQ(w.sharding(), strategy_.state_sharding());
    for (const Shard& shard : w.addressable_shards()) {
      EXPECT_EQ(shard.index.size(), static_cast<std::size_t>(w.ndim()));
      EXPECT_EQ(shard.index[0].second, w.shape()[0]) << "every device holds the whole";
    }
  }
  EXPECT_EQ(step.cache_size(), 2u);
}

TEST_P(OverDevices, ResultsMayStaySplit) {
  const Sharding split = strategy_.batch_sharding(2);
  const auto f = jit([](const Array& x) { return softmax(x * 2.0); }, {.out_sharding = split});
  const Array x = random_array({16, 5});
  const Array y = f(device_put(x, split));
  EXPECT_EQ(y.sharding(), split);
  expect_near(y, as_doubles(f(device_put(x, split))), 0);
  expect_near(y, as_doubles(softmax(x * 2.0)), 1e-6);
}

TEST_P(OverDevices, ReductionsOverTheSplitAxisAreWhole) {
  const Array x = random_array({16, 4}, 0.5, 1.5, 9);
  const Array placed = device_put(x, strategy_.batch_sharding(2));
  const auto f = jit([](const Array& a) {
    return std::vector<Array>{sum(a, {.axis = 0}),
                              max(a),
                              argmax(a, {.axis = 0}),
                              cumsum(a, 0),
                              flip(a, 0),
                              sum(take(a, ints({15, 0, 7}), {.axis = 0})),
                              std_(a),
                              transpose(a)};
  });
  const std::vector<Array> alone = f(x);
  const std::vector<Array> together = f(placed);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(together[i].shape(), alone[i].shape());
    expect_near(together[i], as_doubles(alone[i]), 1e-6);
  }
}

// Element i depends on the key and i only, so a split draw is the same draw.
TEST_P(OverDevices, DrawsDoNotDependOnTheSplit) {
  const auto draw = [](const random::Key& key) { return random::uniform(key, {16, 3}); };
  const Array alone = jit(draw)(random::key(3));
  const random::Key replicated(device_put(random::key(3).data(), strategy_.state_sharding()));
  const Array split = jit(draw, {.out_sharding = strategy_.batch_sharding(2)})(replicated);
  EXPECT_EQ(split.sharding(), strategy_.batch_sharding(2));
  expect_same(split, alone);
}

TEST_P(OverDevices, OpsRunOnSplitArraysWithoutJit) {
  const Array x = random_array({16, 4});
  const Array placed = device_put(x, strategy_.batch_sharding(2));
  expect_near(sum(placed * 2.0 + 1.0, {.axis = 0}), as_doubles(sum(x * 2.0 + 1.0, {.axis = 0})),
              1e-6);
  expect_near(grad([](const Array& a) { return sum(square(a)); })(placed), as_doubles(x * 2.0));
}

// C089 on shards: derivatives of derivatives.
TEST_P(OverDevices, SecondDerivativesAgree) {
  const auto slope = [](const Array& x) {
    const auto first = [](const Array& a) {
      return sum(grad([](const Array& b) { return sum(tanh(2.0 * b)); })(a));
    };
    return grad(first)(x);
  };
  const Array x = random_array({16}, -1, 1, 3, float64);
  const Array placed = device_put(x, strategy_.batch_sharding(1));
  expect_near(jit(slope)(placed), as_doubles(jit(slope)(x)), 1e-12);
}

TEST_P(OverDevices, DonatedStatesAreReusedOnEveryDevice) {
  const auto next = jit([](const Array& w) { return w + 1.0; }, {.donate_argnums = {0}});
  const Array w = device_put(floats({1, 2}), strategy_.state_sharding());
  const Array grown = next(w);
  EXPECT_TRUE(w.is_deleted());
  expect_near(next(grown), {3, 4});
}

TEST(Sharded, ShapesThatDoNotDivideAreNamed) {
  const Mesh mesh(first_devices(4), "data");
  const Sharding split = NamedSharding{mesh, {{"data"}}};
  const auto f = jit([](const Array& x) { return x; }, {.out_sharding = split});
  expect_value_error(
      [&] {
        (void)f(device_put(floats({1, 2, 3}), NamedSharding{mesh, {}}));
      },
      {"3", "4", "divi"});
}

TEST(Sharded, DifferentMeshesAreNamed) {
  const Array a = device_put(floats({1, 2}), NamedSharding{Mesh(first_devices(2), "data"), {}});
  const Array b = device_put(floats({1, 2}), NamedSharding{Mesh(first_devices(4), "data"), {}});
  const auto f = jit([](const Array& x, const Array& y) { return x + y; }, {.name = "f"});
  expect_value_error([&] { (void)f(a, b); }, {"[f]", "different devices", "device_put"});
  expect_value_error([&] { (void)(a + b); }, {"[add]", "different devices", "device_put"});
}

}  // namespace
}  // namespace lockstep
