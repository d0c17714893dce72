#include "lockstep/strategy/data_parallel.h"

#include <cmath>

#include "strategy_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DataParallel, HasAOneDimensionalMesh) {
  const DataParallelStrategy strategy(cpus({2, 0, 1}));
  EXPECT_EQ(strategy.mesh(), Mesh(cpus({2, 0, 1}), "data"));
  EXPECT_THAT(strategy.mesh().axis_names(), ElementsAre("data"));
  EXPECT_EQ(strategy.mesh().axis_size("data"), 3);
  EXPECT_EQ(strategy.root_device(), cpu(2));
  EXPECT_EQ(strategy.to_string(), "DataParallelStrategy(cpu:2, cpu:0, cpu:1; axis 'data')");
}

TEST(DataParallel, TheAxisMayHaveAnotherName) {
  const DataParallelStrategy strategy(cpus({0, 1}), "rows");
  EXPECT_THAT(strategy.mesh().axis_names(), ElementsAre("rows"));
  EXPECT_THAT(strategy.to_string(), HasSubstr("axis 'rows'"));
  EXPECT_EQ(strategy.batch_sharding(1),
            Sharding(NamedSharding{Mesh(cpus({0, 1}), "rows"), {{"rows"}}}));
  EXPECT_THAT(error_text<ValueError>([] {
                DataParallelStrategy(cpus({0, 1}), "");
              }),
              HasSubstr("axis 0 has no name"));
}

TEST(DataParallel, NeedsAtLeastTwoDevices) {
  for (const auto& devices : {cpus({}), cpus({3})}) {
    EXPECT_THAT(error_text<ValueError>([&] { DataParallelStrategy{devices}; }),
                AllOf(HasSubstr("[DataParallelStrategy]"),
                      HasSubstr(std::to_string(devices.size()) + " device(s)"),
                      HasSubstr("at least two are needed"), HasSubstr("SingleDeviceStrategy")));
  }
}

TEST(DataParallel, C006_ARepeatedDeviceIsNamed) {
  EXPECT_THAT(error_text<ValueError>([] {
                DataParallelStrategy(cpus({4, 4}));
              }),
              AllOf(HasSubstr("[DataParallelStrategy]"), HasSubstr("cpu:4"), HasSubstr("twice")));
  EXPECT_THAT(error_text<ValueError>([] {
                DataParallelStrategy(cpus({1, 0, 1}));
              }),
              HasSubstr("cpu:1 is listed twice"));
}

TEST(DataParallel, NullDevicesAreRefused) {
  EXPECT_THAT(error_text<ValueError>([] {
                DataParallelStrategy({Device(), Device()});
              }),
              HasSubstr("device 0 of 2 is null"));
}

TEST(DataParallel, SaysWhereStateAndBatchLive) {
  const DataParallelStrategy strategy(cpus({0, 1}));
  EXPECT_EQ(strategy.state_sharding(), Sharding(NamedSharding{strategy.mesh(), {}}));
  EXPECT_EQ(strategy.batch_sharding(0), strategy.state_sharding());
  for (const std::int64_t ndim : {1, 2, 4}) {
    EXPECT_EQ(strategy.batch_sharding(ndim), Sharding(NamedSharding{strategy.mesh(), {{"data"}}}));
  }
}

TEST(DataParallel, ReplicatesTheState) {
  const DataParallelStrategy strategy(cpus({3, 1, 2}));
  const HostTensor w = ramp_tensor({5, 2});
  const HostTensor step = HostTensor::scalar(std::int32_t{7});
  const Tree state{{"params", Tree::list({Array(w), Tree()})}, {"step", Array(step)}};
  const Tree placed = strategy.place_state(state);
  EXPECT_EQ(structure_of(placed), structure_of(state));
  expect_replicated(placed["params"][0], w, cpus({3, 1, 2}));
  expect_replicated(placed["step"], step, cpus({3, 1, 2}));
  EXPECT_EQ(placed["params"][0].leaf().shape(), (Shape{5, 2}));
}

TEST(DataParallel, SplitsTheBatchAlongItsLeadingDimension) {
  const DataParallelStrategy strategy(cpus({3, 1, 2}));
  const HostTensor x = ramp_tensor({6, 2, 2});
  const HostTensor y = ramp_tensor({3});
  const HostTensor scale = HostTensor::scalar(0.5F);
  const Tree batch{{"x", Array(x)}, {"y", Array(y)}, {"scale", Array(scale)}};
  const Tree placed = strategy.place_batch(batch);
  EXPECT_EQ(structure_of(placed), structure_of(batch));
  expect_placed(placed["x"], x, cpus({3, 1, 2}));
  EXPECT_EQ(placed["x"].leaf().sharding(), strategy.batch_sharding(3));
  for (std::size_t i = 0; i < 3; ++i) {
    const auto first = static_cast<std::int64_t>(2 * i);
    EXPECT_TRUE(shard_values(placed["x"], i).identical(x.rows(first, first + 2)));
  }
  expect_placed(placed["y"], y, cpus({3, 1, 2}));
  expect_replicated(placed["scale"], scale, cpus({3, 1, 2}));
}

struct Indivisible {
  const char* name;
  Tree batch;
  std::vector<std::string> words;
};

class IndivisibleBatch : public ::testing::TestWithParam<Indivisible> {};

TEST_P(IndivisibleBatch, NamesLeafShapeAndDivisorAndPlacesNothing) {
  const DataParallelStrategy strategy(cpus({0, 1, 2, 3}));
  const std::int64_t before = pjrt::num_live_buffers();
  const std::string text =
      error_text<ValueError>([&] { (void)strategy.place_batch(GetParam().batch); });
  EXPECT_EQ(pjrt::num_live_buffers(), before);
  EXPECT_THAT(text, AllOf(HasSubstr("[DataParallelStrategy::place_batch]"),
                          HasSubstr("must be divisible by 4, the number of devices"),
                          HasSubstr("nothing was placed")));
  for (const std::string& word : GetParam().words) EXPECT_THAT(text, HasSubstr(word));
}

INSTANTIATE_TEST_SUITE_P(
    DataParallel, IndivisibleBatch,
    ::testing::Values(
        Indivisible{"C004",
                    Tree{{"a", Array(ramp_tensor({8, 2}))}, {"b", Array(ramp_tensor({10}))}},
                    {"'b'", "(10,)", "leading dimension 10"}},
        Indivisible{"Nested",
                    Tree{{"x", Tree::list({Array(ramp_tensor({4})), Array(ramp_tensor({6, 3}))})}},
                    {"'x/1'", "(6, 3)", "leading dimension 6"}},
        Indivisible{"Root", Array(ramp_tensor({2, 4})), {"the batch has shape (2, 4)"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(DataParallel, AStateNeedsNoDivisibleDimension) {
  const DataParallelStrategy strategy(cpus({0, 1, 2, 3}));
  const HostTensor odd = ramp_tensor({3});
  expect_replicated(strategy.place_state(Tree(Array(odd))), odd, cpus({0, 1, 2, 3}));
}

TEST(DataParallel, AnErrorNamesTheLeaf) {
  const DataParallelStrategy strategy(cpus({0, 1}));
  const Tree tree{{"params", Tree{{"w", Array()}}}};
  for (const auto& place : std::vector<std::function<void()>>{
           [&] { (void)strategy.place_state(tree); }, [&] { (void)strategy.place_batch(tree); }}) {
    EXPECT_THAT(error_text<ValueError>(place), AllOf(HasSubstr("null"), HasSubstr("'params/w'")));
  }
}

TEST(DataParallel, EmptyTreesAndNonesPass) {
  const DataParallelStrategy strategy(cpus({0, 1}));
  for (const Tree& tree : {Tree(), Tree(Tree::Dict{}), Tree(Tree::List{}),
                           Tree{{"a", Tree()}, {"b", Tree::list({})}}}) {
    EXPECT_EQ(structure_of(strategy.place_state(tree)), structure_of(tree));
    EXPECT_EQ(structure_of(strategy.place_batch(tree)), structure_of(tree));
  }
}

TEST(DataParallel, WhatIsPlacedIsNotCopied) {
  const DataParallelStrategy strategy(cpus({0, 1}));
  const Tree tree{{"x", Array(ramp_tensor({4, 2}))}, {"n", Array(1)}};
  const Tree batch = strategy.place_batch(tree);
  const Tree state = strategy.place_state(tree);
  for (const char* key : {"x", "n"}) {
    EXPECT_EQ(strategy.place_batch(batch)[key].leaf().impl(), batch[key].leaf().impl());
    EXPECT_EQ(strategy.place_state(state)[key].leaf().impl(), state[key].leaf().impl());
  }
  const DataParallelStrategy alike(cpus({0, 1}));
  EXPECT_EQ(alike.place_batch(batch)["x"].leaf().impl(), batch["x"].leaf().impl());
}

// No type is narrowed or changed on its way.
TEST(DataParallel, EveryTypeIsPlacedAsItIs) {
  const DataParallelStrategy strategy(cpus({0, 1}));
  for (int i = 0; i <= static_cast<int>(DType::Complex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    SCOPED_TRACE(to_string(dtype));
    HostTensor tensor = HostTensor::zeros(dtype, {4, 3});
    // 0 and 1 are patterns that every type has; for a byte's worth of signed bits, -1 stands for 1.
    const bool is_narrow_signed = is_signed_integer(dtype) && bit_width(dtype) == 1;
    auto bytes = tensor.mutable_values<std::byte>();
    for (std::size_t k = 0; k < bytes.size(); k += 2) {
      bytes[k] = is_narrow_signed ? std::byte{0xFF} : std::byte{1};
    }
    const Tree tree(Array{tensor});
    const Array state = strategy.place_state(tree);
    const Array batch = strategy.place_batch(tree);
    EXPECT_EQ(state.dtype(), dtype);
    EXPECT_EQ(batch.dtype(), dtype);
    expect_replicated(state, tensor, cpus({0, 1}));
    expect_placed(batch, tensor, cpus({0, 1}));
  }
}

TEST(DataParallel, C079_Float64StaysFloat64) {
  const DataParallelStrategy strategy(cpus({0, 1}));
  const std::vector<double> values{1e-8, 1 + std::ldexp(1.0, -40)};
  const Tree tree(Array(HostTensor::from(values, {2})));
  EXPECT_EQ(strategy.place_batch(tree).leaf().to_vector<double>(), values);
  EXPECT_EQ(strategy.place_state(tree).leaf().to_vector<double>(), values);
}

}  // namespace
}  // namespace lockstep
