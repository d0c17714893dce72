// device_put and to_host: every element type, every layout of the source, what is copied.
#include <array>
#include <cstring>

#include "array_test_support.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

std::vector<Sharding> some_shardings() {
  const Mesh grid(cpus({5, 4, 3, 2}), {"a", "b"}, {2, 2});
  return {SingleDeviceSharding{cpu(3)},          NamedSharding{mesh_of(4), {}},
          NamedSharding{mesh_of(4), {{"data"}}}, NamedSharding{mesh_of(4), {{}, {"data"}}},
          NamedSharding{grid, {{"a"}, {"b"}}},   NamedSharding{grid, {{"b", "a"}}},
          NamedSharding{grid, {{}, {"b"}}}};
}

class PlaceEveryDType : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Array, PlaceEveryDType, ::testing::ValuesIn(all_dtypes()), dtype_name);

TEST_P(PlaceEveryDType, ComesBackBitForBit) {
  const HostTensor source = patterns(GetParam(), {8, 12, 3});
  for (const Sharding& sharding : some_shardings()) {
    SCOPED_TRACE(sharding.to_string());
    const Array array = device_put(Array(source), sharding);
    EXPECT_TRUE(array.is_device());
    EXPECT_EQ(array.dtype(), GetParam());
    EXPECT_EQ(array.shape(), source.shape());
    EXPECT_EQ(array.sharding(), sharding);
    expect_holds(array, source);
  }
}

TEST_P(PlaceEveryDType, StridedSourcesBecomeRowMajor) {
  const HostTensor dense = patterns(GetParam(), {12, 8});
  const auto width = static_cast<std::int64_t>(byte_size(GetParam()));
  const std::array<std::int64_t, 2> swap{1, 0};
  const std::byte* const data = dense.data();
  const std::vector<HostTensor> sources{
      dense.transpose(swap),
      HostTensor::borrow(data + (12 * 8 - 1) * width, GetParam(), {8, 12}, {-12 * width, -width}),
      HostTensor::borrow(data, GetParam(), {8, 4}, {8 * width, 2 * width}),
      HostTensor::borrow(data, GetParam(), {8, 4}, {0, width}),
      HostTensor::adopt(dense.owner(), data + 7 * width, GetParam(), {12, 8}, {8 * width, -width}),
      HostTensor::adopt(dense.owner(), data, GetParam(), {4, 4}, {16 * width, width})};
  for (const Sharding& sharding : some_shardings()) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      SCOPED_TRACE(sharding.to_string() + ", source " + std::to_string(i));
      expect_holds(device_put(Array(sources[i]), sharding), sources[i].contiguous());
    }
  }
}

TEST_P(PlaceEveryDType, ScalarsAndEmptyArraysPass) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{0, 3}, Shape{4, 0}}) {
    const HostTensor source = patterns(GetParam(), shape);
    for (const Sharding& sharding :
         {Sharding(SingleDeviceSharding{cpu(1)}), Sharding(NamedSharding{mesh_of(4), {}})}) {
      SCOPED_TRACE(to_string(shape) + " on " + sharding.to_string());
      expect_holds(device_put(Array(source), sharding), source);
    }
    if (shape.empty()) continue;
    const Array split = device_put(Array(source), NamedSharding{mesh_of(4), {{"data"}}});
    expect_holds(split, source);
    EXPECT_EQ(shard_values(split, 3).shape()[0], shape[0] / 4);
  }
}

TEST_P(PlaceEveryDType, MovesBetweenShardings) {
  const HostTensor source = patterns(GetParam(), {8, 4});
  for (const Sharding& from : some_shardings()) {
    const Array first = device_put(Array(source), from);
    for (const Sharding& to : some_shardings()) {
      SCOPED_TRACE(from.to_string() + " to " + to.to_string());
      expect_holds(device_put(first, to), source);
    }
    expect_holds(first, source);
  }
}

TEST(Placement, AnArrayThatHasTheShardingIsReturnedAsItIs) {
  for (const Sharding& sharding : some_shardings()) {
    const Array array = device_put(Array(ramp_tensor({8, 4})), sharding);
    EXPECT_EQ(device_put(array, sharding).impl(), array.impl());
  }
}

TEST(Placement, OwnedAlignedMemoryIsUsedWithoutACopy) {
  const HostTensor tensor = ramp_tensor({8, 16});  // rows of 64 bytes
  const Array single = device_put(Array(tensor), SingleDeviceSharding{cpu(0)});
  EXPECT_EQ(memory_of(single, 0), tensor.data());
  const Array split = device_put(Array(tensor), NamedSharding{mesh_of(4), {{"data"}}});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(memory_of(split, i), tensor.data() + i * 2 * 64);
  }
}

TEST(Placement, MemoryThatCannotBeUsedIsCopied) {
  const HostTensor tensor = ramp_tensor({8, 3});  // parts of 24 bytes: not aligned
  const Array split = device_put(Array(tensor), NamedSharding{mesh_of(4), {{"data"}}});
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_NE(memory_of(split, i), tensor.data() + i * 2 * 12);
  }
  const HostTensor rows = ramp_tensor({4, 5}).rows(1, 3);  // starts 20 bytes in
  expect_holds(device_put(Array(rows), SingleDeviceSharding{cpu(0)}), rows);
  const HostTensor borrowed = HostTensor::borrow(tensor.data(), DType::Float32, {8, 3});
  EXPECT_NE(memory_of(device_put(Array(borrowed), SingleDeviceSharding{cpu(0)}), 0), tensor.data());
}

// Only aligned memory could be used as it is, and there only would a later write show.
TEST(Placement, BorrowedMemoryIsFreeOnReturn) {
  for (const Sharding& sharding : some_shardings()) {
    SCOPED_TRACE(sharding.to_string());
    HostTensor memory = ramp_tensor({8, 16});
    const HostTensor before = memory.clone();
    const auto floats = memory.mutable_values<float>();
    const Array array =
        device_put(Array(HostTensor::borrow(floats.data(), DType::Float32, {8, 16})), sharding);
    std::ranges::fill(floats, -1.0F);
    expect_holds(array, before);
  }
}

TEST(Placement, WritingToAPlacedTensorCopiesItFirst) {
  HostTensor tensor = ramp_tensor({8, 16});
  const HostTensor before = tensor.clone();
  for (const Sharding& sharding : some_shardings()) {
    const Array array = device_put(Array(tensor), sharding);
    std::ranges::fill(tensor.mutable_values<float>(), -1.0F);
    expect_holds(array, before);
    tensor = before.clone();
  }
}

TEST(Placement, KeepsOwnedMemoryAlive) {
  auto owner = std::make_shared<std::vector<float>>(ramp(1000));
  const std::weak_ptr<std::vector<float>> watch = owner;
  const HostTensor expected = HostTensor::from(*owner, {1000});
  Array array = device_put(Array(HostTensor::adopt(owner, owner->data(), DType::Float32, {1000})),
                           NamedSharding{mesh_of(4), {{"data"}}});
  owner.reset();
  expect_holds(array, expected);
  array.block_until_ready();
  array = Array();
  EXPECT_TRUE(watch.expired());
}

TEST(Placement, LeavesNoBufferBehind) {
  const std::int64_t before = pjrt::num_live_buffers();
  for (const Sharding& sharding : some_shardings()) {
    const Array array = device_put(Array(ramp_tensor({8, 4})), sharding);
    EXPECT_EQ(pjrt::num_live_buffers() - before,
              static_cast<std::int64_t>(sharding.devices().size()));
  }
  EXPECT_EQ(pjrt::num_live_buffers(), before);
}

TEST(Placement, ATreeKeepsItsStructureAndItsNones) {
  const Tree tree{{"a", Tree::list({Array(ramp_tensor({4})), Tree(), Array(2.5F)})},
                  {"empty", Tree(Tree::Dict{})}};
  const Tree placed = device_put(tree, NamedSharding{mesh_of(2), {}});
  EXPECT_EQ(structure_of(placed), structure_of(tree));
  EXPECT_TRUE(all_leaves([](const Array& leaf) { return leaf.is_device(); }, placed));
  const Tree back = device_get(placed);
  EXPECT_TRUE(all_leaves([](const Array& leaf) { return leaf.is_host(); }, back));
  EXPECT_EQ(back["a"][0].leaf().to_vector<float>(), ramp(4));
  EXPECT_EQ(back["a"][2].leaf().item<float>(), 2.5F);
  EXPECT_TRUE(device_put(Tree(), NamedSharding{mesh_of(2), {}}).is_none());
}

TEST(Placement, AShardingForEachLeaf) {
  const Sharding split = NamedSharding{mesh_of(2), {{"data"}}};
  const Sharding replicated = NamedSharding{mesh_of(2), {}};
  const Tree placed =
      device_put(Tree{{"x", Array(ramp_tensor({4}))}, {"scale", Array(2.0F)}},
                 [&](const Array& leaf) { return leaf.ndim() == 0 ? replicated : split; });
  EXPECT_EQ(placed["x"].leaf().sharding(), split);
  EXPECT_EQ(placed["scale"].leaf().sharding(), replicated);
}

TEST(Placement, AnErrorNamesTheLeaf) {
  const Sharding split = NamedSharding{mesh_of(4), {{"data"}}};
  const Tree odd{{"a", Array(ramp_tensor({4}))},
                 {"b", Tree::list({Array(ramp_tensor({8})), Array(ramp_tensor({6, 2}))})}};
  EXPECT_THAT(error_text<ValueError>([&] { (void)device_put(odd, split); }),
              AllOf(HasSubstr("leaf 'b/1'"), HasSubstr("(6, 2)"), HasSubstr("divisible by 4")));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)device_put(Tree{{"w", Array()}}, NamedSharding{mesh_of(4), {}});
              }),
              AllOf(HasSubstr("the array is null"), HasSubstr("leaf 'w'")));
  EXPECT_THAT(
      error_text<ValueError>([&] { (void)device_put(Tree(Array(ramp_tensor({6}))), split); }),
      HasSubstr("(the leaf)"));
}

TEST(Placement, WeakTypesStayWeak) {
  EXPECT_TRUE(device_put(Array(2.0F), SingleDeviceSharding{cpu(0)}).weak_type());
  EXPECT_FALSE(
      device_put(Array(HostTensor::scalar(2.0F)), SingleDeviceSharding{cpu(0)}).weak_type());
}

}  // namespace
}  // namespace lockstep
