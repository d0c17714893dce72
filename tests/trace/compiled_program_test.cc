// Compiled programs: runs, donation (C013), misuse, meshes, threads.
#include "lockstep/trace/compiled_program.h"

#include <thread>

#include "lockstep/trace/ops.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

Sharding on(std::size_t device) {
  return SingleDeviceSharding{devices("cpu").at(device)};
}
Array placed(const std::vector<float>& values, std::size_t device = 0) {
  return device_put(floats(values), on(device));
}
Mesh mesh_of(std::size_t count) {
  const std::vector<Device>& all = devices("cpu");
  return Mesh({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}, "data");
}

const AbstractValue vector2{.shape = {2}};

// (state, batch) -> state + batch, sum of state
CompiledProgram step(bool donates) {
  return CompiledProgram::compile(
      [](std::span<const Array> x) {
        return std::vector<Array>{x[0] + x[1], sum(x[0])};
      },
      std::vector{vector2, vector2},
      {.name = "step",
       .input_shardings = {on(0), on(0)},
       .donated = donates ? std::vector<bool>{true, false} : std::vector<bool>{},
       .input_names = {"state/w", "batch"}});
}

TEST(CompiledProgram, RunsAndDescribesItself) {
  const CompiledProgram program = step(false);
  const std::vector<Array> outputs = program(std::vector{placed({1, 2}), placed({10, 20})});
  expect_near(outputs.at(0), {11, 22});
  expect_near(outputs.at(1), {3});
  EXPECT_EQ(program.num_inputs(), 2u);
  EXPECT_EQ(program.num_outputs(), 2u);
  EXPECT_EQ(program.inputs()[0], vector2);
  EXPECT_EQ(program.outputs()[1], AbstractValue{});
  EXPECT_EQ(program.input_shardings()[1], on(0));
  EXPECT_EQ(program.output_shardings()[0], on(0));
  EXPECT_EQ(program.devices(), std::vector<Device>{devices("cpu")[0]});
  EXPECT_THAT(program.module_text(), ::testing::HasSubstr("module @step"));
}

// C013: a donated state passed again, read on the host, and passed twice at once.
TEST(CompiledProgram, C013DonatedStatesAreNotUsedAgain) {
  const CompiledProgram program = step(true);
  const Array state0 = placed({1, 2});
  const Array batch = placed({10, 20});
  const Array state1 = program(std::vector{state0, batch})[0];
  EXPECT_TRUE(state0.is_deleted());
  expect_value_error(
      [&] {
        (void)program(std::vector{state0, batch});
      },
      {"[step]", "'state/w'", "already donated", "result"});
  expect_value_error([&] { (void)state0.to_host(); }, {"donated"});
  expect_value_error(
      [&] {
        (void)program(std::vector{state1, state1});
      },
      {"[step]", "same buffer is passed twice", "'state/w'", "'batch'", "copy"});
  EXPECT_FALSE(state1.is_deleted());
  const Array state2 = program(std::vector{state1, batch})[0];
  expect_near(state2, {21, 42});
  expect_near(batch, {10, 20});
}

TEST(CompiledProgram, C013DonatedTwiceAtOnce) {
  const CompiledProgram program = CompiledProgram::compile(
      [](std::span<const Array> x) {
        return std::vector<Array>{x[0] + x[1], x[0] - x[1]};
      },
      std::vector{vector2, vector2},
      {.name = "swap", .input_shardings = {on(0), on(0)}, .donated = {true, true}});
  const Array a = placed({1, 2});
  expect_value_error(
      [&] {
        (void)program(std::vector{a, a});
      },
      {"[swap]", "passed twice", "argument 0", "argument 1"});
  expect_near(a, {1, 2});
}

TEST(CompiledProgram, ADonatedArgumentMayNotBeAConstantOfTheProgram) {
  const Array table = device_put(random_array({40, 40}), on(0));
  const CompiledProgram program = CompiledProgram::compile(
      [&](std::span<const Array> x) { return std::vector<Array>{x[0] + table}; },
      std::vector{table.abstract_value()},
      {.name = "add", .input_shardings = {on(0)}, .donated = {true}});
  expect_value_error([&] { (void)program(std::vector{table}); }, {"[add]", "constant", "copy"});
  EXPECT_FALSE(table.is_deleted());
}

// A loop can keep its state in one place.
TEST(CompiledProgram, OutputsMayOverlapInputs) {
  const CompiledProgram program = step(true);
  std::vector<Array> values{placed({0, 0}), placed({1, 2})};
  Array total;
  for (int i = 0; i < 100; ++i) {
    program.run({std::span<const Array>(values)},
                {std::span(values.data(), 1), std::span(&total, 1)});
  }
  expect_near(values[0], {100, 200});
  expect_near(total, {99 * 3});
}

TEST(CompiledProgram, TakesAndFillsSeveralParts) {
  const CompiledProgram program = step(false);
  const std::vector<Array> state{placed({1, 2})};
  const std::vector<Array> batch{placed({3, 4})};
  std::vector<Array> next(1);
  std::vector<Array> metrics(1);
  std::vector<pjrt::Event> events(1);
  program.run({state, batch}, {next, metrics}, events);
  events[0].await();
  expect_near(next[0], {4, 6});
  expect_near(metrics[0], {3});
}

TEST(CompiledProgram, MisuseNamesTheArgument) {
  const CompiledProgram program = step(false);
  const Array good = placed({1, 2});
  const auto with = [&](const Array& second) {
    return [&program, good, second] { (void)program(std::vector{good, second}); };
  };
  expect_value_error(with(Array()), {"[step]", "'batch'", "no value"});
  expect_value_error(with(floats({1, 2})), {"[step]", "'batch'", "host memory", "device_put"});
  expect_value_error(with(placed({1, 2, 3})),
                     {"[step]", "'batch'", "float32[3]", "compiled for float32[2]"});
  expect_value_error(with(device_put(ints({1, 2}), on(0))),
                     {"[step]", "'batch'", "int32[2]", "float32[2]"});
  expect_value_error(with(placed({1, 2}, 3)),
                     {"[step]", "'batch'", "cpu:3", "cpu:0", "device_put"});
  expect_value_error([&] { (void)program(std::vector{good}); },
                     {"[step]", "1 inputs", "2 inputs and 2 outputs"});
  std::vector<Array> too_few(1);
  expect_value_error(
      [&] {
        program.run(std::vector{good, good}, too_few);
      },
      {"[step]", "room for 1 outputs", "2 outputs"});
  std::vector<Array> outputs(2);
  std::vector<pjrt::Event> events(3);
  expect_value_error(
      [&] {
        program.run(std::vector{good, good}, outputs, events);
      },
      {"[step]", "3 device events", "1 devices"});
}

TEST(CompiledProgram, MisuseOfOptionsIsNamed) {
  const FlatFunction f = [](std::span<const Array> x) { return std::vector<Array>{x[0]}; };
  const auto with = [&](const CompiledProgramOptions& options) {
    return [&f, options] {
      (void)CompiledProgram::compile(f, std::vector{AbstractValue{.shape = {6}}}, options);
    };
  };
  expect_value_error(with({.name = "f"}), {"[f]", "0 input shardings for 1 inputs"});
  expect_value_error(with({.name = "f", .input_shardings = {on(0)}, .donated = {true, false}}),
                     {"[f]", "2 donation flags for 1 inputs"});
  expect_value_error(
      with({.name = "f", .input_shardings = {on(0)}, .output_shardings = {on(0), on(0)}}),
      {"[f]", "2 output shardings for 1 outputs"});
  expect_value_error(with({.name = "f", .input_shardings = {on(0)}, .output_shardings = {on(1)}}),
                     {"[f]", "different devices", "result 0", "device_put"});
  expect_value_error(
      with({.name = "f", .input_shardings = {NamedSharding{mesh_of(4), {{"data"}}}}}), {"6", "4"});
}

TEST(CompiledProgram, RunsOverAMesh) {
  const Mesh mesh = mesh_of(4);
  const Sharding split = NamedSharding{mesh, {{"data"}}};
  const Sharding replicated = NamedSharding{mesh, {}};
  const CompiledProgram program = CompiledProgram::compile(
      [](std::span<const Array> x) {
        return std::vector<Array>{x[0] + mean(x[1]), x[1] * 2.0};
      },
      std::vector<AbstractValue>{{}, {.shape = {8}}},
      {.input_shardings = {replicated, split}, .output_shardings = {replicated, split}});
  EXPECT_EQ(program.devices().size(), 4u);
  const Array x = device_put(floats({0, 1, 2, 3, 4, 5, 6, 7}), split);
  const Array w = device_put(Array(HostTensor::scalar(1.0f)), replicated);
  std::vector<Array> outputs(2);
  std::vector<pjrt::Event> events(4);
  program.run(std::vector{w, x}, outputs, events);
  for (pjrt::Event& event : events) event.await();
  expect_near(outputs[0], {4.5});
  expect_near(outputs[1], {0, 2, 4, 6, 8, 10, 12, 14});
  EXPECT_EQ(outputs[1].sharding(), split);
  EXPECT_EQ(outputs[1].addressable_shards()[3].index, (ShardIndex{{6, 8}}));
}

TEST(CompiledProgram, WithoutInputsRunsOnTheDeviceOfItsOutputs) {
  const CompiledProgram program =
      CompiledProgram::compile([](std::span<const Array>) { return std::vector<Array>{arange(3)}; },
                               {}, {.output_shardings = {on(5)}});
  const Array result = program(std::span<const Array>())[0];
  expect_near(result, {0, 1, 2});
  EXPECT_EQ(result.sharding(), on(5));
}

TEST(CompiledProgram, AnyThreadMayRunIt) {
  const CompiledProgram program = step(false);
  const Array state = placed({1, 2});
  std::vector<std::thread> threads;
  std::vector<double> found(8);
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] {
      const Array batch = placed({static_cast<float>(t), 0});
      for (int i = 0; i < 50; ++i) {
        found[t] = as_doubles(program(std::vector{state, batch})[0])[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < found.size(); ++t) EXPECT_EQ(found[t], 1.0 + static_cast<double>(t));
}

}  // namespace
}  // namespace lockstep
