#include "lockstep/train/step.h"

#include "lockstep/optim/adam.h"
#include "lockstep/tree/algorithms.h"
#include "support/shards.h"
#include "train/train_test_support.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tree ones_batch(std::int64_t rows) {
  return Tree{{"x", host_array(std::vector<float>(static_cast<std::size_t>(rows), 1.0F), {rows})}};
}

TEST(CompiledStep, C001_ScalarsAreReplicatedAndCountOnEveryDevice) {
  const auto strategy = cpu_strategy(4);
  const optim::GradientTransformation adam = optim::adam(0.1);
  const Tree params{{"w", host_array({0, 0, 0, 0, 0, 0}, {3, 2})}};
  const Tree state{{"params", params},
                   {"opt_state", adam.init(params)},
                   {"step", Array(HostTensor::scalar(std::int32_t{0}))}};
  CompiledStep step(
      [&](const Tree& current, const Tree&) {
        const Tree gradients{{"w", ones({3, 2})}};
        const auto [updates, opt_state] =
            adam.update(gradients, current["opt_state"], current["params"]);
        return StepOutput{
            .state = Tree{{"params", optim::apply_updates(current["params"], updates)},
                          {"opt_state", opt_state},
                          {"step", current["step"].leaf() + 1}},
            .metrics = {}};
      },
      strategy);
  const Tree batch{{"x", host_array(std::vector<float>(24, 1.0F), {8, 3})},
                   {"lr", Array(HostTensor::scalar(0.1F))}};
  const Tree placed = strategy->place_batch(batch);
  for (const Shard& shard : placed["x"].leaf().addressable_shards()) {
    EXPECT_THAT(shard.buffer->dimensions(), ElementsAre(2, 3));
  }
  Tree current = strategy->place_state(state);
  for (int i = 0; i < 3; ++i) current = step(current, placed).state;
  const Array& counter = current["step"].leaf();
  ASSERT_EQ(counter.addressable_shards().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(shard_values(counter, i).shape(), Shape{});
    EXPECT_EQ(shard_values(counter, i).values<std::int32_t>()[0], 3);
  }
  EXPECT_NEAR(current["params"]["w"].leaf().to_vector<float>()[0], -0.29999796, 1e-7);
}

TEST(CompiledStep, C013_MisuseOfADonatedStateIsAnOrdinaryError) {
  const auto strategy = cpu_strategy(2);
  CompiledStep step(count_step, strategy);
  const Tree state0 = strategy->place_state(counting_state());
  const Tree batch = strategy->place_batch(ones_batch(4));
  const Tree state1 = step(state0, batch).state;
  EXPECT_THAT(error_text<ValueError>([&] { static_cast<void>(step(state0, batch)); }),
              AllOf(HasSubstr("state/step"), HasSubstr("already donated")));
  EXPECT_THAT(error_text<ValueError>([&] { static_cast<void>(state0["w"].leaf().to_host()); }),
              HasSubstr("donated"));
  // The same array at two places of the state, and in state and batch.
  const Array shared = strategy->place_state(Tree(host_array({1, 2}, {2}))).leaf();
  CompiledStep pair([](const Tree& state, const Tree&) { return StepOutput{state, {}}; }, strategy);
  EXPECT_THAT(error_text<ValueError>([&] {
                static_cast<void>(pair(Tree{{"a", shared}, {"b", shared}}, batch));
              }),
              AllOf(HasSubstr("state/a"), HasSubstr("state/b")));
  EXPECT_FALSE(shared.is_deleted());
  CompiledStep both(
      [](const Tree& state, const Tree& data) {
        return StepOutput{Tree{{"a", state["a"].leaf() + data["b"].leaf()}}, {}};
      },
      cpu_strategy(1));
  const Array single = cpu_strategy(1)->place_state(Tree(host_array({1, 2}, {2}))).leaf();
  EXPECT_THAT(error_text<ValueError>([&] {
                static_cast<void>(both(Tree{{"a", single}}, Tree{{"b", single}}));
              }),
              AllOf(HasSubstr("state/a"), HasSubstr("batch/b")));
  // Training goes on from state1.
  const StepOutput next = step(state1, batch);
  EXPECT_EQ(next.state["w"].leaf().item<float>(), 2.0F);
}

TEST(CompiledStep, TheStateMustKeepStructureShapesAndTypes) {
  const auto run = [&](const StepFunction& function) {
    return error_text<ValueError>([&] {
      static_cast<void>(CompiledStep(function, cpu_strategy(2))(counting_state(), ones_batch(4)));
    });
  };
  EXPECT_THAT(run([](const Tree& state, const Tree&) {
                return StepOutput{Tree{{"step", state["step"]}}, {}};
              }),
              AllOf(HasSubstr("train_step"), HasSubstr("w")));
  EXPECT_THAT(run([](const Tree& state, const Tree& batch) {
                return StepOutput{
                    Tree{{"step", state["step"]}, {"w", state["w"].leaf() + batch["x"].leaf()}},
                    {}};
              }),
              AllOf(HasSubstr("'w'"), HasSubstr("float32[]"), HasSubstr("float32[4]"),
                    HasSubstr("reduction")));
  EXPECT_THAT(
      run([](const Tree& state, const Tree&) {
        return StepOutput{Tree{{"step", state["step"].leaf() + 0.5F}, {"w", state["w"]}}, {}};
      }),
      AllOf(HasSubstr("'step'"), HasSubstr("int32"), HasSubstr("float32"), HasSubstr("cast")));
  EXPECT_THAT(run([](const Tree& state, const Tree& batch) {
                return StepOutput{state, Tree{{"head", Tree{{"loss", batch["x"]}}}}};
              }),
              AllOf(HasSubstr("head/loss"), HasSubstr("float32[4]"), HasSubstr("mean")));
  EXPECT_THAT(error_text<ValueError>([] { CompiledStep(StepFunction{}, cpu_strategy(1)); }),
              HasSubstr("empty"));
  EXPECT_THAT(error_text<ValueError>([] { CompiledStep(count_step, nullptr); }),
              AllOf(HasSubstr("strategy"), HasSubstr("create_strategy")));
}

TEST(CompiledStep, EachSignatureIsCompiledOnce) {
  const auto strategy = cpu_strategy(2);
  CompiledStep step(count_step, strategy);
  Tree state = counting_state();
  for (const std::int64_t rows : {4, 4, 6, 4, 6}) state = step(state, ones_batch(rows)).state;
  EXPECT_EQ(step.num_programs(), 2U);
  EXPECT_EQ(state["step"].leaf().item<std::int32_t>(), 5);
  EXPECT_EQ(step.metric_names(), std::vector<std::string>{"loss"});
  EXPECT_THAT(step.text(), AllOf(HasSubstr("sdy.mesh"), HasSubstr("\"data\"")));
}

TEST(CompiledStep, AnUnassignedLeafIsNamed) {
  CompiledStep step(count_step, cpu_strategy(1));
  Tree state = counting_state();
  state["w"] = Tree(Array());
  EXPECT_THAT(error_text<ValueError>([&] { static_cast<void>(step(state, ones_batch(2))); }),
              AllOf(HasSubstr("state/w"), HasSubstr("never assigned")));
}

TEST(CompiledStep, AnEvaluationLeavesTheState) {
  const auto strategy = cpu_strategy(2);
  CompiledStep step = CompiledStep::evaluation(
      [](const Tree& state, const Tree& batch) {
        return Tree{{"m", state["w"].leaf() + mean(batch["x"].leaf())}};
      },
      strategy);
  const Tree state = strategy->place_state(counting_state());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(step(state, ones_batch(4)).metrics["m"].leaf().item<float>(), 1.0F);
  }
  EXPECT_FALSE(state["w"].leaf().is_deleted());
}

TEST(CompiledStep, AHostStateIsNotConsumed) {
  // Owned, aligned host memory is placed without a copy; donation must not write into it.
  const Array host = host_array(std::vector<float>(4096, 1.0F), {4096});
  for (const std::size_t devices : {1, 2}) {
    CompiledStep step(
        [](const Tree& state, const Tree&) {
          return StepOutput{Tree{{"a", state["a"].leaf() * 2.0F}}, {}};
        },
        cpu_strategy(devices));
    const Tree next = step(Tree{{"a", host}}, Tree{}).state;
    EXPECT_EQ(next["a"].leaf().to_vector<float>(), std::vector<float>(4096, 2.0F));
    EXPECT_EQ(host.to_vector<float>(), std::vector<float>(4096, 1.0F));
  }
}

}  // namespace
}  // namespace lockstep::testing
