// Cases from the field, by number: what a resumed run reads, and types that pass through files.

#include "data_test_support.h"
#include "lockstep/data/loader.h"
#include "lockstep/data/npy.h"
#include "lockstep/strategy/data_parallel.h"
#include "lockstep/strategy/single_device.h"
#include "support/shards.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

std::vector<Device> first_devices(std::size_t count) {
  const std::vector<Device>& all = devices("cpu");
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

BatchLoader hundred_rows(std::int64_t prefetch, std::uint64_t seed = 11) {
  return BatchLoader(counting_dataset(100), {.batch_size = 10, .seed = seed, .prefetch = prefetch});
}

// The row numbers of the next `steps` batches, passing over the ends of epochs.
std::vector<std::int32_t> rows_of(BatchLoader& loader, int steps) {
  std::vector<std::int32_t> rows;
  for (int i = 0; i < steps;) {
    const std::optional<Batch> batch = loader.next();
    if (!batch) continue;
    const auto labels = batch->data["label"].leaf().to_vector<std::int32_t>();
    rows.insert(rows.end(), labels.begin(), labels.end());
    ++i;
  }
  return rows;
}

TEST(ResumeCases, C047_AResumedRunReadsTheRowsOfAnUninterruptedOne) {
  BatchLoader whole = hundred_rows(0);
  const std::vector<std::int32_t> expected = rows_of(whole, 30);
  std::vector<std::vector<std::int32_t>> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    epochs.emplace_back(expected.begin() + 100 * epoch, expected.begin() + 100 * (epoch + 1));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  EXPECT_NE(epochs[0], epochs[2]);
  std::vector<int> times(100, 0);
  for (const std::int32_t row : expected) ++times.at(static_cast<std::size_t>(row));
  EXPECT_THAT(times, Each(3));

  for (const std::int64_t prefetch : {0, 4}) {
    for (const int stop : {5, 10, 17}) {
      SCOPED_TRACE(::testing::Message() << "stop after " << stop << ", prefetch " << prefetch);
      BatchLoader first = hundred_rows(prefetch);
      first.prepare(DataParallelStrategy(first_devices(2)));
      std::vector<std::int32_t> rows = rows_of(first, stop);
      const Tree saved = device_get(first.state());
      // A loader of a new process: another seed, which the state overrides, other devices.
      BatchLoader second = hundred_rows(prefetch, 999);
      second.restore(saved);
      if (stop == 10) {
        second.prepare(SingleDeviceStrategy(first_devices(1).front()));
      } else {
        // 10 rows split over 2 devices only; that they are others is what counts.
        const std::vector<Device> four = first_devices(4);
        second.prepare(DataParallelStrategy({four[3], four[2]}));
      }
      const std::vector<std::int32_t> rest = rows_of(second, 30 - stop);
      rows.insert(rows.end(), rest.begin(), rest.end());
      EXPECT_EQ(rows, expected);
    }
  }
}

// A bfloat16 array as NumPy writes it: raw void of two bytes.
std::string bfloat16_file(const std::vector<std::uint16_t>& bits) {
  std::string header =
      "{'descr': '<V2', 'fortran_order': False, 'shape': (" + std::to_string(bits.size()) + ",), }";
  header.resize((10 + header.size() + 64) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  for (const std::uint16_t value : bits) {
    bytes += static_cast<char>(value & 0xFF);
    bytes += static_cast<char>(value >> 8);
  }
  return bytes;
}

TEST(TypeCases, C080_BFloat16KeepsItsBitsFromFileToDeviceAndBack) {
  const std::vector<std::uint16_t> bits{0x0000, 0x3F80, 0x4000, 0x4040, 0x3DCD};
  const auto bits_of = [](const HostTensor& tensor) {
    std::vector<std::uint16_t> found(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(reinterpret_cast<std::byte*>(found.data()));
    return found;
  };
  // 0.1 rounds to 3DCD.
  EXPECT_EQ(bits_of(cast(HostTensor::from(std::vector<float>{0, 1, 2, 3, 0.1F}, {5}), bfloat16)),
            bits);
  const lockstep::testing::TemporaryDirectory folder;
  write_file(folder / "brain.npy", bfloat16_file(bits));
  EXPECT_THAT(error_text<ValueError>([&] { (void)read_npy(folder / "brain.npy"); }),
              AllOf(HasSubstr("brain.npy"), HasSubstr("'<V2'"), HasSubstr("void_dtype"),
                    HasSubstr("bfloat16")));
  const HostTensor read = read_npy(folder / "brain.npy", {.void_dtype = bfloat16});
  EXPECT_EQ(read.dtype(), bfloat16);
  EXPECT_EQ(bits_of(read), bits);

  const DataParallelStrategy strategy(first_devices(4));
  const Array placed = strategy.place_state(Tree(Array(read)));
  EXPECT_EQ(placed.dtype(), bfloat16);
  EXPECT_EQ(bits_of(placed.to_host()), bits);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bits_of(lockstep::testing::shard_values(placed, i)), bits);
  }
}

}  // namespace
}  // namespace lockstep::data
