// The strategy of docs/add_a_strategy.md, under the same step as the others.
#include "sequence_parallel.h"

#include "lockstep/trace/ops.h"
#include "lockstep/train/step.h"
#include "strategy_test_support.h"
#include "support/read_file.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string text_of(const std::string& path) {
  return testing::read_file(LOCKSTEP_TEST_SOURCE_DIR "/" + path);
}

TEST(CustomStrategy, IsTheOneThatTheDocumentationShows) {
  const std::string code = text_of("tests/strategy/sequence_parallel.h");
  ASSERT_THAT(code, HasSubstr("class SequenceParallelStrategy"));
  EXPECT_THAT(text_of("docs/add_a_strategy.md"), HasSubstr("```cpp\n" + code + "```"));
}

TEST(CustomStrategy, SplitsTheSecondDimension) {
  const SequenceParallelStrategy strategy(cpus({2, 0}));
  const HostTensor tokens = ramp_tensor({3, 4});
  const HostTensor lengths = ramp_tensor({3});
  const Tree placed =
      strategy.place_batch(Tree{{"tokens", Array(tokens)}, {"lengths", Array(lengths)}});
  expect_placed(placed["tokens"], tokens, cpus({2, 0}));
  EXPECT_EQ(placed["tokens"].leaf().sharding().shard_shape({3, 4}), (Shape{3, 2}));
  expect_replicated(placed["lengths"], lengths, cpus({2, 0}));
  expect_replicated(strategy.place_state(Tree(Array(tokens))), tokens, cpus({2, 0}));
  EXPECT_EQ(strategy.to_string(), "SequenceParallelStrategy(Mesh(sequence=2))");
}

TEST(CustomStrategy, AnErrorNamesTheLeaf) {
  const SequenceParallelStrategy strategy(cpus({0, 1}));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)strategy.place_batch(Tree{{"tokens", Array(ramp_tensor({2, 3}))}});
              }),
              AllOf(HasSubstr("'tokens'"), HasSubstr("(2, 3)"), HasSubstr("divisible by 2")));
}

TEST(CustomStrategy, RunsTheSameStep) {
  const auto step_function = [](const Tree& state, const Tree& batch) {
    const Array error = batch["x"].leaf() * state["w"].leaf() - 1.0F;
    const Array loss = mean(error * error);
    return StepOutput{.state = Tree{{"w", state["w"].leaf() - 0.001F * loss}},
                      .metrics = Tree{{"loss", loss}}};
  };
  const Tree batch{{"x", Array(ramp_tensor({2, 8}))}};
  const auto run = [&](const std::shared_ptr<Strategy>& strategy) {
    CompiledStep step(step_function, strategy);
    Tree state = strategy->place_state(Tree{{"w", Array(HostTensor::scalar(0.5F))}});
    for (int i = 0; i < 5; ++i) state = step(state, batch).state;
    return state["w"].leaf().item<float>();
  };
  const float expected = run(std::make_shared<SingleDeviceStrategy>(cpu(0)));
  EXPECT_NEAR(run(std::make_shared<SequenceParallelStrategy>(cpus({0, 1, 2, 3}))), expected, 1e-5);
}

}  // namespace
}  // namespace lockstep
