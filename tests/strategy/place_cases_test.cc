// Cases from the field, by number: placing states and batches.
#include <algorithm>
#include <cmath>
#include <memory>

#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/train/step.h"
#include "strategy_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;

// Adam (b1 0.9, b2 0.999, eps 1e-8, learning rate 0.1) with the constant gradient 1.
StepOutput adam_step(const Tree& state, const Tree& /*batch*/) {
  const Array count = state["count"].leaf() + 1;
  const Array t = astype(count, DType::Float32);
  const Array m = 0.9F * state["m"].leaf() + 0.1F;
  const Array v = 0.999F * state["v"].leaf() + 0.001F;
  const Array m_hat = m / (1.0F - power(Array(0.9F), t));
  const Array v_hat = v / (1.0F - power(Array(0.999F), t));
  const Array w = state["w"].leaf() - 0.1F * m_hat / (sqrt(v_hat) + 1e-8F);
  return {.state = Tree{{"w", w}, {"m", m}, {"v", v}, {"count", count}},
          .metrics = Tree{{"m", sum(m)}}};
}

TEST(PlaceCases, C001_ScalarLeavesAreReplicated) {
  const std::vector<Device> devices = cpus({0, 1, 2, 3});
  const auto strategy = std::make_shared<DataParallelStrategy>(devices);
  const HostTensor zeros = HostTensor::zeros(DType::Float32, {3, 2});
  const HostTensor count = HostTensor::scalar(std::int32_t{0});
  const HostTensor x = ramp_tensor({8, 3});
  const HostTensor rate = HostTensor::scalar(0.1F);
  Tree state = strategy->place_state(
      Tree{{"w", Array(zeros)}, {"m", Array(zeros)}, {"v", Array(zeros)}, {"count", Array(count)}});
  expect_replicated(state["count"], count, devices);
  EXPECT_EQ(state["count"].leaf().shape(), Shape{});
  const Tree batch = strategy->place_batch(Tree{{"x", Array(x)}, {"lr", Array(rate)}});
  expect_replicated(batch["lr"], rate, devices);
  expect_placed(batch["x"], x, devices);
  EXPECT_EQ(batch["x"].leaf().sharding().shard_shape({8, 3}), (Shape{2, 3}));

  CompiledStep step(adam_step, strategy);
  for (int i = 0; i < 3; ++i) state = step(state, batch).state;
  expect_replicated(state["count"], HostTensor::scalar(std::int32_t{3}), devices);
  EXPECT_THAT(state["w"].leaf().to_vector<float>(), Each(FloatNear(-0.3F, 1e-5F)));
}

// Every placement of what was placed before, and the source afterwards.
TEST(PlaceCases, C002_PlacingAgainElsewhereHasTheSameBytes) {
  const DataParallelStrategy four(cpus({0, 1, 2, 3}));
  const DataParallelStrategy two(cpus({3, 2}));
  const SingleDeviceStrategy one(cpu(1));
  const HostTensor source = ramp_tensor({8, 5});
  const Tree tree(Array{source});
  const Tree state = four.place_state(tree);
  const Tree batch = four.place_batch(tree);
  for (const Tree& placed : {state, batch}) {
    expect_replicated(four.place_state(placed), source, four.devices());
    expect_replicated(two.place_state(placed), source, two.devices());
    expect_replicated(one.place_state(placed), source, one.devices());
    expect_placed(four.place_batch(placed), source, four.devices());
    expect_placed(two.place_batch(placed), source, two.devices());
    expect_placed(one.place_batch(placed), source, one.devices());
  }
  expect_replicated(state, source, four.devices());
  expect_placed(batch, source, four.devices());
}

TEST(PlaceCases, C004_ShardsFollowTheDeviceList) {
  (void)testing::cpu_devices();
  const auto strategy = create_strategy("cpu", {3, 1, 0, 2});
  const Array placed = strategy->place_batch(Tree(Array(ramp_tensor({8}))));
  const std::vector<Shard> shards = placed.addressable_shards();
  ASSERT_EQ(shards.size(), 4U);
  const std::vector<Device> order = cpus({3, 1, 0, 2});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(shards[i].device, order[i]);
    const auto first = static_cast<std::int64_t>(2 * i);
    EXPECT_TRUE(shard_values(placed, i).identical(ramp_tensor({8}).rows(first, first + 2)));
  }
}

TEST(PlaceCases, C005_EmptyArraysArePlaced) {
  const DataParallelStrategy strategy(cpus({0, 1, 2, 3}));
  const Tree batch = strategy.place_batch(
      Tree{{"rows", Array(ramp_tensor({0, 3}))}, {"columns", Array(ramp_tensor({4, 0}))}});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(shard_values(batch["rows"], i).shape(), (Shape{0, 3}));
    EXPECT_EQ(shard_values(batch["columns"], i).shape(), (Shape{1, 0}));
  }
  const Tree state = strategy.place_state(Tree(Array(ramp_tensor({2, 0}))));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(shard_values(state, i).shape(), (Shape{2, 0}));
}

// Host memory that a caller uses again. It is aligned: only such memory could be used as it is.
class ReusedBuffer : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::int64_t size = 100'000;
  [[nodiscard]] static std::shared_ptr<Strategy> strategy() {
    if (GetParam()) return std::make_shared<DataParallelStrategy>(cpus({0, 1}));
    return std::make_shared<SingleDeviceStrategy>(cpu(0));
  }
  [[nodiscard]] std::span<float> floats() { return memory_.mutable_values<float>(); }
  [[nodiscard]] Tree borrowed() {
    return Array(HostTensor::borrow(floats().data(), DType::Float32, {size}));
  }

 private:
  HostTensor memory_ = ramp_tensor({size});
};
INSTANTIATE_TEST_SUITE_P(PlaceCases, ReusedBuffer, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Two" : "One"; });

TEST_P(ReusedBuffer, C012_IsFreeWhenPlaceBatchReturns) {
  const Tree batch = strategy()->place_batch(borrowed());
  std::ranges::fill(floats(), -1.0F);
  EXPECT_TRUE(batch.leaf().to_host().identical(ramp_tensor({size})));
  const Tree state = strategy()->place_state(borrowed());
  std::ranges::fill(floats(), 0.0F);
  EXPECT_THAT(state.leaf().to_vector<float>(), Each(-1.0F));
}

TEST_P(ReusedBuffer, C012_IsFreeWhileAStepRuns) {
  const auto placing = strategy();
  const auto square = jit([](const Array& x) { return x * x; });
  const Array batch = placing->place_batch(borrowed());
  const Array result = square(batch);
  std::ranges::fill(floats(), -1.0F);
  const std::vector<float> squares = result.to_vector<float>();
  for (std::size_t i = 0; i < squares.size(); ++i) {
    ASSERT_EQ(squares[i], static_cast<float>(i) * static_cast<float>(i));
  }
}

TEST_P(ReusedBuffer, C012_ServesSuccessiveBatches) {
  const Tree first = strategy()->place_batch(borrowed());
  std::ranges::reverse(floats());
  const Tree second = strategy()->place_batch(borrowed());
  std::ranges::fill(floats(), -1.0F);
  std::vector<float> expected = first.leaf().to_vector<float>();
  EXPECT_TRUE(first.leaf().to_host().identical(ramp_tensor({size})));
  std::ranges::reverse(expected);
  EXPECT_EQ(second.leaf().to_vector<float>(), expected);
}

TEST_P(ReusedBuffer, C012_MayBeFreed) {
  auto memory = std::make_unique<HostTensor>(ramp_tensor({size}));
  const Tree batch = strategy()->place_batch(
      Tree(Array(HostTensor::borrow(memory->data(), DType::Float32, {size}))));
  memory.reset();
  EXPECT_TRUE(batch.leaf().to_host().identical(ramp_tensor({size})));
}

StepOutput add_batch(const Tree& state, const Tree& batch) {
  const Array w = state["w"].leaf() + sum(batch["x"].leaf());
  return {.state = Tree{{"w", w}}, .metrics = Tree{{"w", sum(w)}}};
}

TEST(PlaceCases, C013_ADonatedStateGivenAgainIsAnErrorAndTrainingGoesOn) {
  for (const std::shared_ptr<Strategy>& strategy :
       {std::shared_ptr<Strategy>(std::make_shared<SingleDeviceStrategy>(cpu(0))),
        std::shared_ptr<Strategy>(std::make_shared<DataParallelStrategy>(cpus({0, 1})))}) {
    CompiledStep step(add_batch, strategy);
    const Tree batch = strategy->place_batch(Tree{{"x", Array(ramp_tensor({4}))}});
    const Tree state0 = strategy->place_state(Tree{{"w", Array(ramp_tensor({2}))}});
    const Tree state1 = step(state0, batch).state;
    EXPECT_THAT(error_text<ValueError>([&] { (void)step(state0, batch); }),
                AllOf(HasSubstr("w"), HasSubstr("donated")));
    EXPECT_THAT(error_text<ValueError>([&] { (void)state0["w"].leaf().to_host(); }),
                HasSubstr("donated"));
    EXPECT_THAT(state1["w"].leaf().to_vector<float>(), ::testing::ElementsAre(6, 7));
    const Tree state2 = step(state1, batch).state;
    EXPECT_THAT(state2["w"].leaf().to_vector<float>(), ::testing::ElementsAre(12, 13));
  }
}

TEST(PlaceCases, C013_OneArrayAsStateAndBatchIsAnError) {
  const auto strategy = std::make_shared<SingleDeviceStrategy>(cpu(0));
  const auto add = [](const Tree& state, const Tree& batch) {
    const Array w = state["w"].leaf() + batch["w"].leaf();
    return StepOutput{.state = Tree{{"w", w}}, .metrics = Tree{{"w", sum(w)}}};
  };
  CompiledStep step(add, strategy);
  const Tree both = strategy->place_state(Tree{{"w", Array(ramp_tensor({2}))}});
  EXPECT_THAT(error_text<ValueError>([&] { (void)step(both, both); }),
              AllOf(HasSubstr("w"), HasSubstr("same")));
  EXPECT_THAT(both["w"].leaf().to_vector<float>(), ::testing::ElementsAre(0, 1));
}

}  // namespace
}  // namespace lockstep
