// Files that are broken at random, always the same ones: readers either give a tensor or an error
// that says which file it is of, and never crash or take memory without bound.
#include <random>

#include "data_test_support.h"
#include "lockstep/data/idx.h"
#include "lockstep/data/npy.h"

namespace lockstep::data {
namespace {

using lockstep::testing::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  // Between one and four changes to `bytes`, some of which take parts of `other`.
  std::string mutate(std::string bytes, const std::string& other) {
    for (std::size_t count = 1 + below(4); count > 0; --count) change(bytes, other);
    return bytes;
  }

  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

 private:
  void change(std::string& bytes, const std::string& other) {
    const std::size_t place = below(bytes.size());
    // Beginnings are where headers are.
    const std::size_t early = below(std::min<std::size_t>(bytes.size(), 24));
    constexpr char telling[] = {'\x00', '\x01', '\x7f', '\x80', '\xff',
                                '\'',   '(',    '9',    '<',    '\x1f'};
    switch (below(9)) {
      case 0:
        if (!bytes.empty()) bytes[place] ^= static_cast<char>(1U << below(8));
        break;
      case 1:
        if (!bytes.empty()) bytes[early] = static_cast<char>(below(256));
        break;
      case 2:
        if (!bytes.empty()) bytes[place] = telling[below(std::size(telling))];
        break;
      case 3:
        if (!bytes.empty()) bytes[early] = telling[below(std::size(telling))];
        break;
      case 4: bytes.resize(place); break;
      case 5: bytes.erase(early, 1 + below(8)); break;
      case 6: bytes.insert(place, bytes.substr(early, below(32))); break;
      case 7:
        bytes.insert(early, std::string(1 + below(4), telling[below(std::size(telling))]));
        break;
      default: bytes = bytes.substr(0, place) + other.substr(below(other.size())); break;
    }
  }

  std::mt19937 random_;
};

std::vector<std::string> whole_files() {
  const std::string doubles = number_bytes(counting<double>(12), std::endian::big);
  const std::string longs = number_bytes(counting<std::int64_t>(12), std::endian::little);
  const std::string images = idx_bytes(0x08, {3, 4, 5}, std::string(60, '\x2a'));
  const std::string numbers = idx_bytes(0x0e, {2, 6}, doubles);
  const std::string plain =
      npy_bytes("{'descr': '<i8', 'fortran_order': False, 'shape': (3, 4), }          \n", longs);
  const std::string fortran =
      npy_bytes("{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3, 2), }\n", doubles, 2);
  const std::string raw =
      npy_bytes("{'shape': (6,), 'descr': '<V2', 'fortran_order': False}", "abcdefghijkl", 3);
  return {images, numbers,      plain,       fortran,
          raw,    gzip(images), gzip(plain), gzip(numbers) + gzip("")};
}

// What reading `bytes` gave: true for a tensor, false for an error.
template <class Read>
bool survives(const std::string& path, std::string_view reader, const Read& read) {
  const std::string start = "[" + std::string(reader) + "] ";
  try {
    const HostTensor tensor = read();
    EXPECT_TRUE(tensor.is_contiguous());
    EXPECT_EQ(tensor.values<std::byte>().size(),
              static_cast<std::size_t>(tensor.size()) * byte_size(tensor.dtype()));
    return true;
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith(start), HasSubstr(path)));
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith(start), HasSubstr(path)));
  } catch (const std::exception& error) {
    ADD_FAILURE() << "neither ValueError nor RuntimeError: " << error.what();
  }
  return false;
}

TEST(ReaderMutation, BrokenFilesGiveATensorOrAnErrorNeverACrash) {
  const TemporaryDirectory folder;
  const std::string path = folder / "mutated";
  const std::vector<std::string> files = whole_files();
  Mutator mutator(20261);
  int tensors = 0;
  int errors = 0;
  for (int round = 0; round < 6000; ++round) {
    SCOPED_TRACE(round);
    const std::string& whole = files[mutator.below(files.size())];
    write_file(path, mutator.mutate(whole, files[mutator.below(files.size())]));
    const bool is_idx = survives(path, "read_idx", [&] { return read_idx(path); });
    const NpyOptions options{.void_dtype = round % 2 == 0 ? std::optional(bfloat16) : std::nullopt};
    const bool is_npy = survives(path, "read_npy", [&] { return read_npy(path, options); });
    EXPECT_FALSE(is_idx && is_npy);
    ++(is_idx || is_npy ? tensors : errors);
    if (HasFailure()) break;
  }
  // The changes are neither so small that all is well nor so great that only the magic is read.
  EXPECT_GT(tensors, 200);
  EXPECT_GT(errors, 3000);
}

TEST(ReaderMutation, EveryBitFlipOfAHeaderGivesATensorOrAnError) {
  const TemporaryDirectory folder;
  const std::string path = folder / "flipped";
  for (const std::string& whole : whole_files()) {
    for (std::size_t bit = 0; bit < 8 * std::min<std::size_t>(whole.size(), 96); ++bit) {
      std::string bytes = whole;
      bytes[bit / 8] ^= static_cast<char>(1U << bit % 8);
      write_file(path, bytes);
      survives(path, "read_idx", [&] { return read_idx(path); });
      survives(path, "read_npy", [&] { return read_npy(path); });
      if (::testing::Test::HasFailure()) FAIL() << "bit " << bit;
    }
  }
}

}  // namespace
}  // namespace lockstep::data
