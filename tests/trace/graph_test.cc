// Graphs: recording, capturing, replaying, and depth.
#include "lockstep/trace/graph.h"

#include "lockstep/trace/compiled_program.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/lowering.h"
#include "lockstep/trace/ops.h"
#include "lockstep/trace/primitive.h"
#include "lockstep/trace/record.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

const AbstractValue vector3{.shape = {3}};

TEST(Record, KeepsTheOpsInTheirOrder) {
  const RecordedFunction f = record(
      [](std::span<const Array> x) {
        return std::vector<Array>{exp(sin(x[0])), x[0]};
      },
      std::vector{vector3});
  const Graph& graph = *f.graph;
  ASSERT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(graph.nodes()[0].primitive->name(), "sin");
  EXPECT_EQ(graph.nodes()[1].primitive->name(), "exp");
  EXPECT_EQ(graph.nodes()[1].inputs, std::vector<ValueId>{graph.nodes()[0].first_output});
  EXPECT_EQ(f.outputs,
            (std::vector<ValueId>{graph.nodes()[1].first_output, graph.parameters()[0]}));
  EXPECT_TRUE(graph.is_closed());
}

TEST(Record, CapturesAnArrayOnce) {
  const Array captured = floats({1, 2, 3});
  const RecordedFunction f = record(
      [&](std::span<const Array> x) { return std::vector<Array>{x[0] * captured + captured}; },
      std::vector{vector3});
  EXPECT_EQ(f.graph->constants().size(), 1u);
}

TEST(Evaluate, ReplaysAFunctionOutsideAndInsideATrace) {
  const RecordedFunction f = record(
      [](std::span<const Array> x) {
        return std::vector<Array>{x[0] * 2.0, x[1] - x[0]};
      },
      std::vector{vector3, vector3});
  const std::vector<Array> inputs{floats({1, 2, 3}), floats({5, 5, 5})};
  const std::vector<Array> outputs = evaluate(f, inputs);
  expect_near(outputs[0], {2, 4, 6});
  expect_near(outputs[1], {4, 3, 2});
  const auto compiled = jit([&](const std::vector<Array>& x) { return evaluate(f, x); });
  expect_near(compiled(inputs)[1], {4, 3, 2});
  expect_near(grad([&](const Array& x) {
                return sum(evaluate(f, std::vector<Array>{x, inputs[1]})[0]);
              })(inputs[0]),
              {2, 2, 2});
  expect_value_error([&] { (void)evaluate(f, std::vector<Array>{inputs[0]}); },
                     {"[evaluate]", "1 arguments", "of 2"});
}

TEST(LiveNodes, LeaveOutWhatNoOutputNeeds) {
  const RecordedFunction f = record(
      [](std::span<const Array> x) {
        (void)exp(x[0]);
        return std::vector<Array>{sin(x[0])};
      },
      std::vector{vector3});
  EXPECT_EQ(live_nodes(*f.graph, f.outputs), (std::vector<bool>{false, true}));
}

TEST(Graph, GoesDownWithItsScope) {
  const auto graph = std::make_shared<Graph>(Graph::Mode::Recording);
  EXPECT_FALSE(is_active(*graph));
  {
    const GraphScope scope(graph);
    EXPECT_EQ(current_graph(), graph);
    EXPECT_TRUE(is_active(*graph));
  }
  EXPECT_EQ(current_graph(), nullptr);
  expect_value_error([] { (void)traced(floats({1})); }, {"[trace]", "not a value of a trace"});
}

// The chain is long enough that one stack frame for each op would end the process.
constexpr int depth = 20000;

Array chain(Array x) {
  for (int i = 0; i < depth; ++i) x = sin(x);
  return x;
}

double expected_chain_gradient(double x) {
  double product = 1;
  for (int i = 0; i < depth; ++i) {
    product *= std::cos(x);
    x = std::sin(x);
  }
  return product;
}

TEST(DeepGraph, IsTracedLoweredAndDestroyed) {
  const AbstractValue scalar{.shape = {}, .dtype = DType::Float64};
  RecordedFunction f =
      record([](std::span<const Array> x) { return std::vector<Array>{chain(x[0])}; },
             std::vector{scalar});
  EXPECT_EQ(f.graph->nodes().size(), static_cast<std::size_t>(depth));
  const LoweredModule module = lower_graph(*f.graph, f.outputs);
  std::size_t sines = 0;
  for (std::size_t at = 0; (at = module.text.find("stablehlo.sine", at)) != std::string::npos;
       ++at) {
    ++sines;
  }
  EXPECT_EQ(sines, static_cast<std::size_t>(depth));
  f = {};
}

TEST(DeepGraph, IsDifferentiatedInsideATrace) {
  const AbstractValue scalar{.shape = {}, .dtype = DType::Float64};
  const RecordedFunction f = record(
      [](std::span<const Array> x) {
        return std::vector<Array>{grad([](const Array& y) { return chain(y); })(x[0])};
      },
      std::vector{scalar});
  EXPECT_GT(f.graph->nodes().size(), static_cast<std::size_t>(2 * depth));
}

TEST(DeepGraph, IsDifferentiatedOnATape) {
  const Array gradient = grad([](const Array& y) { return chain(y); })(HostTensor::scalar(0.001));
  const double expected = expected_chain_gradient(0.001);
  EXPECT_NEAR(gradient.item<double>(), expected, 1e-9 * expected);
}

}  // namespace
}  // namespace lockstep
