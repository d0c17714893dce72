// The gathering thread's errors, its end, and who may use a batch's memory for how long.
#include <atomic>
#include <future>
#include <set>

#include "data_test_support.h"
#include "lockstep/data/loader.h"
#include "lockstep/strategy/data_parallel.h"

namespace lockstep::data {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

std::vector<std::int32_t> labels_of(const Batch& batch) {
  return batch.data["label"].leaf().to_vector<std::int32_t>();
}

// Rows in stored order, so that a batch is known by its first label.
LoaderOptions stored(std::int64_t batch_size, std::int64_t prefetch) {
  return {.batch_size = batch_size, .shuffle = false, .prefetch = prefetch};
}

class BatchLoaderErrors : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Prefetch, BatchLoaderErrors, ::testing::Values(0, 1, 4));

TEST_P(BatchLoaderErrors, ComeAtTheirBatchAndTheNextCallTriesItAgain) {
  std::atomic<int> failures = 2;
  LoaderOptions failing = stored(2, GetParam());
  failing.transform = [&](Tree batch) {
    const std::int32_t label = batch["label"].leaf().to_vector<std::int32_t>()[0];
    if (label == 4 && failures-- > 0) {
      throw_value_error("augment", "row " + std::to_string(label) + " has no face");
    }
    return batch;
  };
  BatchLoader loader(counting_dataset(10), failing);
  EXPECT_EQ(labels_of(loader.next().value())[0], 0);
  EXPECT_EQ(labels_of(loader.next().value())[0], 2);
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(error_text<ValueError>([&] { (void)loader.next(); }),
                HasSubstr("[augment] row 4 has no face"));
    EXPECT_EQ(loader.cursor(), (Cursor{0, 4})) << "after the batch handed out last";
  }
  EXPECT_EQ(labels_of(loader.next().value())[0], 4);
  EXPECT_EQ(labels_of(loader.next().value())[0], 6);
}

TEST_P(BatchLoaderErrors, ThatStayDoNotHang) {
  LoaderOptions failing = stored(2, GetParam());
  failing.transform = [](Tree) -> Tree { throw std::runtime_error("disk on fire"); };
  BatchLoader loader(counting_dataset(10), failing);
  for (int attempt = 0; attempt < 3; ++attempt) {
    EXPECT_EQ(error_text<std::runtime_error>([&] { (void)loader.next(); }), "disk on fire");
  }
}

TEST_P(BatchLoaderErrors, OfTheShuffleAreThrownToo) {
  LoaderOptions failing{.batch_size = 5, .prefetch = GetParam()};
  failing.epoch_bits = [](const Array& key, std::int64_t epoch, std::int64_t count) {
    if (epoch == 1) throw_runtime_error("bits", "the device is gone");
    return host_epoch_bits(key, epoch, count);
  };
  BatchLoader loader(counting_dataset(10), failing);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(loader.next().has_value());
  EXPECT_FALSE(loader.next().has_value());
  EXPECT_THAT(error_text<RuntimeError>([&] { (void)loader.next(); }), HasSubstr("device is gone"));
  EXPECT_EQ(loader.cursor(), (Cursor{1, 0}));
}

TEST_P(BatchLoaderErrors, ALoaderWithAnErrorMayGoElsewhere) {
  LoaderOptions failing = stored(2, GetParam());
  failing.transform = [](Tree batch) {
    if (batch["label"].leaf().to_vector<std::int32_t>()[0] == 2) throw_value_error("t", "no");
    return batch;
  };
  BatchLoader loader(counting_dataset(10), failing);
  (void)loader.next();
  EXPECT_THROW((void)loader.next(), ValueError);
  loader.restore(loader.state_at({.position = 6}));
  EXPECT_EQ(labels_of(loader.next().value())[0], 6);
}

TEST(BatchLoaderThread, IsJoinedWhenTheLoaderGoesWhileItGathers) {
  std::promise<void> inside;
  std::promise<void> go_on;
  std::atomic<int> transformed = 0;
  LoaderOptions blocking = stored(2, 3);
  blocking.transform = [&](Tree batch) {
    if (++transformed == 2) {
      inside.set_value();
      go_on.get_future().wait();
    }
    return batch;
  };
  auto loader = std::make_unique<BatchLoader>(counting_dataset(100), blocking);
  EXPECT_EQ(labels_of(loader->next().value())[0], 0);
  inside.get_future().wait();
  std::promise<void> begun;
  std::thread destroyer([&] {
    begun.set_value();
    loader.reset();
  });
  begun.get_future().wait();
  go_on.set_value();
  destroyer.join();
  const int at_end = transformed;
  EXPECT_LE(at_end, 4);  // what the queue had room for
}

TEST(BatchLoaderThread, WorksAheadAsFarAsTheQueueHasRoom) {
  std::atomic<int> transformed = 0;
  LoaderOptions counting_batches = stored(1, 3);
  counting_batches.transform = [&](Tree batch) {
    ++transformed;
    return batch;
  };
  BatchLoader loader(counting_dataset(100), counting_batches);
  EXPECT_EQ(transformed, 0) << "nothing is gathered before the first batch is asked for";
  (void)loader.next();
  while (transformed < 4) std::this_thread::yield();
  loader.restore(loader.state());
  EXPECT_EQ(transformed, 4);  // one handed out, three waiting
}

TEST(BatchLoaderThread, LoadersThatAreNeverUsedOrEndAtOnceEnd) {
  for (int i = 0; i < 50; ++i) {
    BatchLoader unused(counting_dataset(10), stored(2, 2));
    BatchLoader used(counting_dataset(10), stored(2, 2));
    (void)used.next();
  }
}

TEST(BatchLoaderThread, SeveralLoadersWorkAtOnce) {
  const Dataset data = counting_dataset(64);
  std::vector<std::thread> threads;
  std::vector<int> rows(4);
  for (std::size_t index = 0; index < rows.size(); ++index) {
    threads.emplace_back([&, index] {
      BatchLoader loader(
          data, {.batch_size = 8, .seed = index, .num_threads = 2, .epoch_bits = host_epoch_bits});
      for (int epoch = 0; epoch < 5; ++epoch) {
        while (const std::optional<Batch> batch = loader.next()) {
          rows[index] += static_cast<int>(batch->num_rows);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(rows, Each(5 * 64));
}

// Batches of one MiB whose every element is the first row's number.
class BatchMemory : public ::testing::Test {
 protected:
  static constexpr std::int64_t rows = 64;
  static constexpr std::int64_t batch_rows = 8;
  static constexpr std::int64_t width = 32 * 1024;
  [[nodiscard]] static Dataset data() {
    std::vector<std::int32_t> values;
    for (std::int32_t row = 0; row < rows; ++row) {
      values.insert(values.end(), static_cast<std::size_t>(width), row);
    }
    return Dataset({{"x", HostTensor::from(values, {rows, width})}});
  }
  static void expect_rows(const Array& x, std::int64_t first) {
    const std::vector<std::int32_t> values = x.to_vector<std::int32_t>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = first + static_cast<std::int64_t>(i) / width;
      if (values[i] != row) FAIL() << "element " << i << " is " << values[i] << ", not " << row;
    }
  }
  [[nodiscard]] static const std::byte* address(const Batch& batch) {
    return static_cast<const HostArray&>(*batch.data["x"].leaf().impl()).tensor().data();
  }
};

TEST_F(BatchMemory, IsOwnedAlignedAndRowMajor) {
  BatchLoader loader(data(), stored(batch_rows, 2));
  const Batch batch = loader.next().value();
  const HostTensor& x = static_cast<const HostArray&>(*batch.data["x"].leaf().impl()).tensor();
  EXPECT_TRUE(x.is_owned());
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % HostTensor::alignment, 0U);
}

TEST_F(BatchMemory, IsNotUsedAgainWhileAnArrayOfItLives) {
  for (const std::int64_t prefetch : {0, 3}) {
    BatchLoader loader(data(), stored(batch_rows, prefetch));
    std::vector<Batch> held;
    std::set<const std::byte*> addresses;
    for (int i = 0; i < rows / batch_rows; ++i) {
      held.push_back(loader.next().value());
      addresses.insert(address(held.back()));
    }
    EXPECT_EQ(addresses.size(), held.size());
    for (std::size_t i = 0; i < held.size(); ++i) {
      expect_rows(held[i].data["x"], static_cast<std::int64_t>(i) * batch_rows);
    }
  }
}

TEST_F(BatchMemory, IsUsedAgainWhenNoArrayOfItLives) {
  BatchLoader loader(data(), stored(batch_rows, 0));
  std::set<const std::byte*> addresses;
  for (int i = 0; i < rows / batch_rows; ++i) addresses.insert(address(loader.next().value()));
  EXPECT_EQ(addresses.size(), 1U);
}

TEST_F(BatchMemory, PlacedBatchesKeepTheirElementsWhateverComesAfter) {
  const DataParallelStrategy strategy(devices("cpu"));
  BatchLoader loader(data(), stored(batch_rows, 2));
  loader.prepare(strategy);
  std::vector<Tree> placed;
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (std::optional<Batch> batch = loader.next()) {
      placed.push_back(strategy.place_batch(batch->data));
      batch.reset();  // only the devices hold the memory now
    }
  }
  ASSERT_EQ(placed.size(), static_cast<std::size_t>(2 * rows / batch_rows));
  for (std::size_t i = 0; i < placed.size(); ++i) {
    expect_rows(placed[i]["x"], static_cast<std::int64_t>(i) * batch_rows % rows);
  }
}

}  // namespace
}  // namespace lockstep::data
