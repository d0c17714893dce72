// Where ops run: arrays that were placed decide, all others follow them.
#include <vector>

#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/trace/random.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

Sharding on(std::size_t device) {
  return SingleDeviceSharding{devices("cpu").at(device)};
}

Sharding over(std::size_t count) {
  const std::vector<Device>& all = devices("cpu");
  return NamedSharding{
      Mesh({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}, "data"), {{"data"}}};
}

TEST(Commitment, IsGivenByPlacing) {
  EXPECT_FALSE(floats({1}).is_committed());
  EXPECT_FALSE(zeros({2}).is_committed());
  EXPECT_FALSE((floats({1}) + 1.0).is_committed());
  const Array placed = device_put(floats({1}), on(0));
  EXPECT_TRUE(placed.is_committed());
  EXPECT_TRUE((placed + 1.0).is_committed());
  EXPECT_TRUE((zeros({1}) + placed).is_committed());
  const Array made = zeros({1});
  EXPECT_TRUE(device_put(made, made.sharding()).is_committed());
  EXPECT_FALSE(made.is_committed());
}

TEST(Commitment, IsHandedOnByJit) {
  const auto f = jit([](const Array& x) { return x + 1.0; });
  EXPECT_FALSE(f(floats({1})).is_committed());
  EXPECT_TRUE(f(device_put(floats({1}), on(0))).is_committed());
  EXPECT_TRUE(jit([] { return zeros({1}); }, {.out_sharding = on(0)})().is_committed());
}

class Everywhere : public ::testing::TestWithParam<int> {
 protected:
  // Another device than the default one, or a mesh.
  [[nodiscard]] static Sharding place() { return GetParam() == 0 ? on(3) : over(4); }
  [[nodiscard]] static Array placed() { return device_put(floats({1, 2, 3, 4}), place()); }
};

INSTANTIATE_TEST_SUITE_P(Places, Everywhere, ::testing::Values(0, 1));

TEST_P(Everywhere, OpsFollowThePlacedOperand) {
  const Array x = placed();
  const auto expect_there = [&](const Array& y, const std::vector<double>& expected) {
    expect_near(y, expected);
    EXPECT_EQ(y.sharding().devices(), x.sharding().devices());
  };
  expect_there(x * 2.0, {2, 4, 6, 8});
  expect_there(1 - x, {0, -1, -2, -3});
  expect_there(zeros({4}) + x, {1, 2, 3, 4});
  expect_there(maximum(floats({3, 0, 3, 0}), x), {3, 2, 3, 4});
  expect_there(where(x > 2, x, zeros_like(x)), {0, 0, 3, 4});
  expect_there(x + arange(4), {1, 3, 5, 7});
  expect_there(take(x, ints({3, 0, -1})), {4, 1, 4});
  expect_there(cumsum(clip(x, 2.0, 3.0), 0), {2, 4, 7, 10});
  expect_there(softmax(x * 0.0), {0.25, 0.25, 0.25, 0.25});
}

TEST_P(Everywhere, GradientsFollowThePlacedArgument) {
  const auto loss = [](const Array& x) {
    return mean(square(maximum(x - 2.0, 0.0))) + logsumexp(x) * 0.0 + prod(x) * 0.0;
  };
  const Array gradient = grad(loss)(placed());
  expect_near(gradient, {0, 0, 0.5, 1});
  EXPECT_EQ(gradient.sharding().devices(), place().devices());
  expect_near(jit(grad(loss))(placed()), {0, 0, 0.5, 1});
}

TEST_P(Everywhere, JitFollowsThePlacedArgument) {
  const auto f = jit([](const Array& x, const Array& y) { return x + y; });
  const Array made = zeros({4}) + 1.0;
  expect_near(f(made, placed()), {2, 3, 4, 5});
  expect_near(f(placed(), made), {2, 3, 4, 5});
  EXPECT_EQ(f(made, placed()).sharding().devices(), place().devices());
}

TEST_P(Everywhere, DrawsFollowTheirKey) {
  const Sharding whole = GetParam() == 0 ? on(3) : Sharding(NamedSharding{*over(4).mesh(), {}});
  const random::Key key(device_put(random::key(5).data(), whole));
  const Array draw = random::normal(key, {8});
  EXPECT_EQ(draw.sharding().devices(), whole.devices());
  expect_near(draw, as_doubles(random::normal(random::key(5), {8})));
}

// Two arrays that were placed apart are a mistake, never a silent copy.
TEST(Commitment, TwoPlacesAreAnError) {
  const Array a = device_put(floats({1}), on(0));
  const Array b = device_put(floats({1}), on(1));
  expect_value_error([&] { (void)(a + b); },
                     {"[add]", "different devices", "cpu:0", "cpu:1", "device_put"});
  expect_value_error([&] { (void)(a * 2.0 + b); }, {"[add]", "different devices"});
  const auto f = jit([](const Array& x, const Array& y) { return x + y; }, {.name = "f"});
  expect_value_error([&] { (void)f(a, b); }, {"[f]", "different devices"});
}

}  // namespace
}  // namespace lockstep
