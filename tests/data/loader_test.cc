// What a BatchLoader hands out, in which order, and from where it goes on.
#include "lockstep/data/loader.h"

#include <thread>

#include "data_test_support.h"
#include "expected_orders.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::vector<std::int32_t> labels_of(const Batch& batch) {
  return batch.data["label"].leaf().to_vector<std::int32_t>();
}

LoaderOptions options(std::int64_t batch_size) {
  return {.batch_size = batch_size, .epoch_bits = host_epoch_bits};
}

// What a call of next() gave: labels, and where the source stands. No labels: an epoch's end.
struct Step {
  std::vector<std::int32_t> labels;
  Cursor cursor;
  bool operator==(const Step&) const = default;
};

Step step(DataSource& source) {
  const std::optional<Batch> batch = source.next();
  if (!batch) return {{}, source.cursor()};
  EXPECT_EQ(batch->cursor, source.cursor());
  EXPECT_EQ(batch->num_rows, static_cast<std::int64_t>(labels_of(*batch).size()));
  return {labels_of(*batch), batch->cursor};
}

std::vector<Step> steps(DataSource& source, int count) {
  std::vector<Step> result;
  for (int i = 0; i < count; ++i) result.push_back(step(source));
  return result;
}

std::string refusal(std::string_view where, const std::function<void()>& body) {
  const std::string text = error_text<ValueError>(body);
  EXPECT_THAT(text, HasSubstr("[" + std::string(where) + "] "));
  return text;
}

TEST(BatchLoader, BatchesAreRowsOfAllColumnsInTheSamplersOrder) {
  const Dataset data = counting_dataset(300);
  BatchLoader loader(data, options(32));
  Sampler sampler(300, {.batch_size = 32, .epoch_bits = host_epoch_bits}, {.key = sampler_key(0)});
  EXPECT_EQ(loader.batches_per_epoch(), 9);
  for (int i = 0; i < 9; ++i) {
    const Batch batch = loader.next().value();
    EXPECT_EQ(structure_of(batch.data).to_string(), "{'image': *, 'label': *, 'x': *}");
    const std::vector<std::int64_t> rows = sampler.next();
    EXPECT_THAT(labels_of(batch), ElementsAreArray(rows));
    const Array& x = batch.data["x"];
    const Array& image = batch.data["image"];
    EXPECT_EQ(x.shape(), (Shape{32, 3}));
    EXPECT_EQ(image.shape(), (Shape{32, 2}));
    const auto x_values = x.to_vector<std::int32_t>();
    const auto pixels = image.to_vector<float>();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_EQ(x_values[3 * row + j], 10 * rows[row] + static_cast<std::int64_t>(j));
      }
      for (std::size_t j = 0; j < 2; ++j) {
        const auto stored = static_cast<std::uint8_t>(rows[row] + static_cast<std::int64_t>(j));
        EXPECT_EQ(pixels[2 * row + j], static_cast<float>(stored) / 255.0F);
      }
    }
  }
  EXPECT_FALSE(loader.next().has_value());
}

TEST(BatchLoader, ByDefaultItShufflesWithJaxsBitsOfTheSeed) {
  const ExpectedOrder& expected = expected_orders[2];
  ASSERT_EQ(expected.epoch, 0);
  BatchLoader loader(counting_dataset(expected.rows),
                     {.batch_size = expected.rows, .seed = expected.seed});
  EXPECT_THAT(step(loader).labels, ElementsAreArray(expected.first));
}

struct Variant {
  std::int64_t prefetch;
  std::int64_t num_threads;
  bool shuffle;
  bool drop_last;
};

class BatchLoaderVariants : public ::testing::TestWithParam<Variant> {
 protected:
  [[nodiscard]] static BatchLoader make(std::int64_t prefetch, std::uint64_t seed = 3) {
    return BatchLoader(counting_dataset(23), {.batch_size = 5,
                                              .shuffle = GetParam().shuffle,
                                              .drop_last = GetParam().drop_last,
                                              .seed = seed,
                                              .prefetch = prefetch,
                                              .num_threads = GetParam().num_threads,
                                              .epoch_bits = host_epoch_bits});
  }
};

INSTANTIATE_TEST_SUITE_P(All, BatchLoaderVariants,
                         ::testing::Values(Variant{0, 0, true, true}, Variant{1, 1, true, false},
                                           Variant{2, 3, true, true}, Variant{5, 0, false, false},
                                           Variant{40, 2, true, false}, Variant{2, 0, false, true}),
                         [](const auto& param_info) {
                           const Variant& v = param_info.param;
                           return "prefetch" + std::to_string(v.prefetch) + "threads" +
                                  std::to_string(v.num_threads) +
                                  (v.shuffle ? "shuffled" : "stored") +
                                  (v.drop_last ? "drop" : "keep");
                         });

TEST_P(BatchLoaderVariants, PrefetchingMakesNoDifference) {
  BatchLoader ahead = make(GetParam().prefetch);
  BatchLoader inside = make(0);
  EXPECT_EQ(ahead.batches_per_epoch(), GetParam().drop_last ? 4 : 5);
  for (int i = 0; i < 25; ++i) EXPECT_EQ(step(ahead), step(inside)) << i;
}

TEST_P(BatchLoaderVariants, RestoredAtAnyPositionTheRestIsTheSame) {
  BatchLoader whole = make(0);
  const std::vector<Step> expected = steps(whole, 20);
  for (int calls = 0; calls < 12; ++calls) {
    BatchLoader source = make(GetParam().prefetch);
    (void)steps(source, calls);
    // The state carries the seed; what had been handed out before does not matter.
    BatchLoader restored = make(GetParam().prefetch, 99);
    (void)steps(restored, 3);
    restored.restore(source.state());
    EXPECT_EQ(restored.cursor(), source.cursor());
    EXPECT_EQ(steps(restored, 8),
              std::vector<Step>(expected.begin() + calls, expected.begin() + calls + 8))
        << "after " << calls;
  }
}

TEST_P(BatchLoaderVariants, AStateMayBeTakenLaterThanItsBatch) {
  BatchLoader source = make(GetParam().prefetch);
  const Cursor early = source.next().value().cursor;
  const std::vector<Step> expected = steps(source, 7);
  source.restore(source.state_at(early));
  EXPECT_EQ(steps(source, 7), expected);
}

TEST_P(BatchLoaderVariants, SkippingGoesToTheNextEpochsFirstBatch) {
  BatchLoader whole = make(0);
  std::vector<Step> second;
  while (whole.next()) {
  }
  second = steps(whole, 3);
  BatchLoader source = make(GetParam().prefetch);
  source.skip_to_next_epoch();  // at the beginning there is nothing to leave out
  (void)steps(source, 2);
  source.skip_to_next_epoch();
  source.skip_to_next_epoch();
  EXPECT_EQ(source.cursor(), (Cursor{1, 0}));
  EXPECT_EQ(steps(source, 3), second);
}

TEST(BatchLoader, TheStateIsEpochKeyAndPosition) {
  BatchLoader loader(counting_dataset(10), options(4));
  (void)steps(loader, 4);  // two batches, an end, a batch
  const SamplerState state = sampler_state_from_tree(loader.state());
  EXPECT_EQ(state.epoch, 1);
  EXPECT_EQ(state.position, 4);
  EXPECT_EQ(state.key.to_vector<std::uint32_t>(), sampler_key(0).to_vector<std::uint32_t>());
}

TEST(BatchLoader, AStateOfAnotherDataSetIsRefusedAndChangesNothing) {
  BatchLoader loader(counting_dataset(10), options(4));
  BatchLoader same(counting_dataset(10), options(4));
  EXPECT_EQ(step(loader), step(same));
  EXPECT_THAT(refusal("Sampler", [&] { loader.restore(loader.state_at({.position = 11})); }),
              HasSubstr("position 11"));
  EXPECT_THAT(refusal("Sampler", [&] { loader.restore(Tree()); }), HasSubstr("'epoch'"));
  EXPECT_EQ(steps(loader, 5), steps(same, 5));
}

TEST(BatchLoader, TransformsChangeEveryBatchOnTheGatheringThread) {
  for (const std::int64_t prefetch : {0, 2}) {
    std::thread::id gathering;
    LoaderOptions transforming = options(4);
    transforming.prefetch = prefetch;
    transforming.transform = [&](Tree batch) {
      gathering = std::this_thread::get_id();
      auto labels = batch["label"].leaf().to_vector<std::int32_t>();
      for (std::int32_t& label : labels) label *= 2;
      batch["doubled"] = HostTensor::from(labels, {4});
      return batch;
    };
    BatchLoader loader(counting_dataset(4), transforming);
    const Batch batch = loader.next().value();
    const auto labels = labels_of(batch);
    const auto doubled = batch.data["doubled"].leaf().to_vector<std::int32_t>();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(doubled[i], 2 * labels[i]);
    EXPECT_EQ(batch.num_rows, 4);
    loader.restore(loader.state());  // ends the thread that writes `gathering`
    EXPECT_EQ(gathering == std::this_thread::get_id(), prefetch == 0);
  }
}

TEST(BatchLoader, PartsOfABatchMayBeGatheredByManyThreads) {
  constexpr std::int64_t width = 4096;
  const std::int64_t rows = 700;
  std::vector<std::int32_t> values = counting<std::int32_t>(rows * width);
  const Dataset data({{"label", HostTensor::from(counting<std::int32_t>(rows), {rows})},
                      {"x", HostTensor::from(values, {rows, width})}});
  for (const std::int64_t threads : {1, 2, 5, 0}) {
    LoaderOptions parallel = options(512);  // 8 MiB
    parallel.num_threads = threads;
    BatchLoader loader(data, parallel);
    const Batch batch = loader.next().value();
    const HostTensor x = batch.data["x"].leaf().to_host();
    const std::vector<std::int32_t> labels = labels_of(batch);
    for (std::int64_t row = 0; row < 512; ++row) {
      const std::int32_t label = labels[static_cast<std::size_t>(row)];
      ASSERT_TRUE(x.rows(row, row + 1).identical(data.column("x").values.rows(label, label + 1)));
    }
  }
}

TEST(BatchLoader, ColumnsWithoutElementsAreGathered) {
  const Dataset data({{"label", HostTensor::from(counting<std::int32_t>(6), {6})},
                      {"nothing", HostTensor::zeros(float32, {6, 0})}});
  BatchLoader loader(data, options(4));
  EXPECT_EQ(loader.next().value().data["nothing"].leaf().shape(), (Shape{4, 0}));
}

TEST(BatchLoader, NegativeNumbersAreRefused) {
  LoaderOptions bad = options(2);
  bad.prefetch = -1;
  EXPECT_THAT(
      refusal("BatchLoader", [&] { BatchLoader(counting_dataset(4), bad); }),
      AllOf(HasSubstr("prefetch is -1"), HasSubstr("num_threads is 0"), HasSubstr("not negative")));
  bad = options(2);
  bad.num_threads = -3;
  EXPECT_THAT(refusal("BatchLoader", [&] { BatchLoader(counting_dataset(4), bad); }),
              HasSubstr("num_threads is -3"));
}

TEST(BatchLoader, C073_AnEpochWithoutABatchIsRefusedWhenTheLoaderIsMade) {
  EXPECT_THAT(refusal("Sampler", [] { BatchLoader(counting_dataset(0), options(8)); }),
              AllOf(HasSubstr("0 row(s)"), HasSubstr("0 batches")));
  EXPECT_THAT(refusal("Sampler", [] { BatchLoader(counting_dataset(3), options(8)); }),
              AllOf(HasSubstr("3 row(s)"), HasSubstr("batch_size 8"), HasSubstr("0 batches")));
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    EXPECT_THAT(refusal("Sampler", [&] { BatchLoader(counting_dataset(3), options(size)); }),
                HasSubstr(std::to_string(size)));
  }
  LoaderOptions short_batch = options(8);
  short_batch.drop_last = false;
  BatchLoader loader(counting_dataset(3), short_batch);
  EXPECT_EQ(loader.batches_per_epoch(), 1);
  EXPECT_EQ(step(loader).labels.size(), 3U);
  EXPECT_EQ(step(loader).labels.size(), 0U);
}

}  // namespace
}  // namespace lockstep::data
