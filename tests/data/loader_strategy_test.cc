// A BatchLoader under a strategy: the root device's key, and batches that must split evenly.
#include "data_test_support.h"
#include "lockstep/data/loader.h"
#include "lockstep/strategy/data_parallel.h"
#include "lockstep/strategy/single_device.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LoaderOptions keeping(std::int64_t batch_size) {
  return {.batch_size = batch_size, .drop_last = false};
}

DataParallelStrategy over(std::size_t count) {
  const std::vector<Device>& all = devices("cpu");
  return DataParallelStrategy(
      std::vector<Device>(all.end() - static_cast<std::ptrdiff_t>(count), all.end()));
}

std::string refusal(std::int64_t rows, const LoaderOptions& options, const Strategy& strategy) {
  BatchLoader loader(counting_dataset(rows), options);
  const std::string text = error_text<ValueError>([&] { loader.prepare(strategy); });
  EXPECT_THAT(text, AllOf(HasSubstr("[BatchLoader] "), HasSubstr("split evenly")));
  return text;
}

TEST(BatchLoaderUnderStrategy, TheKeyLivesOnTheRootDeviceAndTheOrderStays) {
  const DataParallelStrategy strategy = over(3);
  BatchLoader placed(counting_dataset(24), keeping(6));
  BatchLoader host(counting_dataset(24), keeping(6));
  placed.prepare(strategy);
  const Array key = placed.state()["key"];
  ASSERT_TRUE(key.is_device());
  EXPECT_EQ(key.sharding().devices(), std::vector<Device>{strategy.root_device()});
  for (int i = 0; i < 10; ++i) {
    const std::optional<Batch> expected = host.next();
    const std::optional<Batch> found = placed.next();
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (!found) continue;
    EXPECT_EQ(found->data["label"].leaf().to_vector<std::int32_t>(),
              expected->data["label"].leaf().to_vector<std::int32_t>());
  }
}

TEST(BatchLoaderUnderStrategy, AStateFromTheDeviceRestoresElsewhere) {
  const SingleDeviceStrategy strategy(devices("cpu").at(1));
  BatchLoader placed(counting_dataset(20), keeping(6));
  placed.prepare(strategy);
  (void)placed.next();
  BatchLoader restored(counting_dataset(20), {.batch_size = 6, .drop_last = false, .seed = 8});
  restored.restore(device_get(placed.state()));
  for (int i = 0; i < 8; ++i) {
    const std::optional<Batch> expected = placed.next();
    const std::optional<Batch> found = restored.next();
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (!found) continue;
    EXPECT_EQ(found->data["label"].leaf().to_vector<std::int32_t>(),
              expected->data["label"].leaf().to_vector<std::int32_t>());
  }
}

TEST(BatchLoaderUnderStrategy, C073_BatchesThatDoNotSplitAreRefusedBeforeTraining) {
  EXPECT_THAT(refusal(20, keeping(6), over(4)),
              AllOf(HasSubstr("a batch has 6 rows"), HasSubstr("the 4 devices"),
                    HasSubstr(over(4).to_string()), HasSubstr("a multiple of 4")));
  EXPECT_THAT(
      refusal(10, keeping(8), over(4)),
      AllOf(HasSubstr("the last batch of an epoch has 2 rows"), HasSubstr("multiple of 4")));
  EXPECT_THAT(refusal(3, keeping(8), over(4)),
              AllOf(HasSubstr("the last batch of an epoch has 3 rows"), HasSubstr("4 devices")));
}

TEST(BatchLoaderUnderStrategy, C073_WhatSplitsOrIsLeftOutIsTaken) {
  BatchLoader drops(counting_dataset(10), {.batch_size = 8});
  drops.prepare(over(4));  // the two rows that are left are dropped
  BatchLoader keeps(counting_dataset(12), keeping(8));
  keeps.prepare(over(4));
  BatchLoader one_short(counting_dataset(3), keeping(8));
  one_short.prepare(SingleDeviceStrategy(devices("cpu").at(0)));
  EXPECT_EQ(one_short.next().value().num_rows, 3);
  BatchLoader any(counting_dataset(10), keeping(7));
  any.prepare(SingleDeviceStrategy(devices("cpu").at(0)));
}

TEST(BatchLoaderUnderStrategy, PreparingInTheMiddleGoesOnFromThere) {
  BatchLoader loader(counting_dataset(24), keeping(6));
  BatchLoader same(counting_dataset(24), keeping(6));
  (void)loader.next();
  (void)same.next();
  loader.prepare(over(2));
  EXPECT_EQ(loader.next().value().data["label"].leaf().to_vector<std::int32_t>(),
            same.next().value().data["label"].leaf().to_vector<std::int32_t>());
}

}  // namespace
}  // namespace lockstep::data
