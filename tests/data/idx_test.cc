#include "lockstep/data/idx.h"

#include <unistd.h>

#include <limits>

#include "data_test_support.h"

namespace lockstep::data {
namespace {

using lockstep::testing::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Idx : public ::testing::Test {
 protected:
  HostTensor read(const std::string& bytes, const std::string& name = "data.idx") {
    write_file(folder_ / name, bytes);
    return read_idx(folder_ / name);
  }
  std::string refusal(const std::string& bytes, const std::string& name = "data.idx") {
    return error_text<ValueError>([&] { (void)read(bytes, name); });
  }
  TemporaryDirectory folder_;
};

const std::string images = idx_bytes(0x08, {2, 2, 3}, "abcdefghijkl");

TEST_F(Idx, C069_PackedOrNotIsToldByContentNotByName) {
  const HostTensor plain = read(images, "images-idx3-ubyte");
  EXPECT_EQ(plain.dtype(), uint8);
  EXPECT_EQ(plain.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(plain.values<std::uint8_t>()[7], 'h');
  EXPECT_TRUE(read(images, "images-idx3-ubyte.gz").identical(plain));
  EXPECT_TRUE(read(gzip(images), "packed-idx3-ubyte.gz").identical(plain));
  EXPECT_TRUE(read(gzip(images), "images.idx3-ubyte").identical(plain));
}

TEST_F(Idx, C069_BigEndianNumbersOfEveryTypeAreReadRight) {
  const auto big = [](const auto& values) { return number_bytes(values, std::endian::big); };
  const HostTensor ints = read(idx_bytes(
      0x0c, {4},
      big(std::vector<std::int32_t>{1, -2, 0x01020304, std::numeric_limits<int>::min()})));
  EXPECT_THAT(ints.values<std::int32_t>(),
              ElementsAre(1, -2, 0x01020304, std::numeric_limits<int>::min()));
  const HostTensor doubles =
      read(idx_bytes(0x0e, {1, 2, 1, 2}, big(std::vector<double>{0.1, -3e300, 0.0, 2.5})));
  EXPECT_EQ(doubles.shape(), (Shape{1, 2, 1, 2}));
  EXPECT_THAT(doubles.values<double>(), ElementsAre(0.1, -3e300, 0.0, 2.5));
  const HostTensor floats = read(idx_bytes(0x0d, {2}, big(std::vector<float>{0.1F, -7.0F})));
  EXPECT_THAT(floats.values<float>(), ElementsAre(0.1F, -7.0F));
  const HostTensor shorts = read(idx_bytes(0x0b, {2}, big(std::vector<std::int16_t>{258, -2})));
  EXPECT_THAT(shorts.values<std::int16_t>(), ElementsAre(258, -2));
  const HostTensor bytes = read(idx_bytes(0x09, {2}, big(std::vector<std::int8_t>{-1, 127})));
  EXPECT_THAT(bytes.values<std::int8_t>(), ElementsAre(-1, 127));
  EXPECT_TRUE(
      read(gzip(idx_bytes(0x0b, {2}, big(std::vector<std::int16_t>{258, -2})))).identical(shorts));
}

TEST_F(Idx, ScalarsAndEmptyTensorsAreTensors) {
  const HostTensor scalar = read(idx_bytes(0x08, {}, "\x2a"));
  EXPECT_EQ(scalar.shape(), Shape{});
  EXPECT_THAT(scalar.values<std::uint8_t>(), ElementsAre(42));
  EXPECT_EQ(read(idx_bytes(0x0d, {0, 28, 28}, "")).shape(), (Shape{0, 28, 28}));
  EXPECT_EQ(read(gzip(idx_bytes(0x0d, {3, 0}, ""))).shape(), (Shape{3, 0}));
}

TEST_F(Idx, SeveralGzipMembersAreOneFileAndPaddingIsNone) {
  const HostTensor plain = read(images);
  const std::string halves = gzip(images.substr(0, 9)) + gzip(images.substr(9));
  EXPECT_TRUE(read(halves).identical(plain));
  EXPECT_TRUE(read(gzip(images) + std::string(5, '\0')).identical(plain));
}

TEST_F(Idx, MembersOfManyBlocksAreRead) {
  // Not compressible, so that the packed bytes are more than one read of the file, and a member
  // begins at every offset of a block in turn.
  std::vector<std::uint32_t> words(200'000);
  std::uint32_t state = 1;
  for (std::uint32_t& word : words) word = state = state * 1664525U + 1013904223U;
  const std::string elements = number_bytes(words, std::endian::big);
  const std::string whole = idx_bytes(0x0c, {static_cast<std::uint32_t>(words.size())}, elements);
  const HostTensor plain = read(whole);
  EXPECT_EQ(static_cast<std::uint32_t>(plain.values<std::int32_t>().back()), words.back());
  EXPECT_TRUE(read(gzip(whole)).identical(plain));
  constexpr std::size_t block = 256 * 1024;
  const std::string first = gzip(whole.substr(0, block - 300));
  ASSERT_LT(first.size(), block);
  for (std::size_t missing = 0; missing < 3; ++missing) {
    // A member with a name in its header, whose length moves the end of the first member.
    std::string padded = first;
    padded[3] = '\x08';  // a file name follows the header
    padded.insert(10, std::string(block - missing - first.size() - 1, 'n') + '\0');
    ASSERT_EQ(padded.size(), block - missing);
    EXPECT_TRUE(read(padded + gzip(whole.substr(block - 300))).identical(plain)) << missing;
  }
}

TEST_F(Idx, C069_AnotherMagicIsShown) {
  // The magic number of images, 2051, in the other byte order.
  EXPECT_THAT(refusal(std::string("\x03\x08\0\0", 4) + images.substr(4), "swapped"),
              AllOf(HasSubstr("[read_idx]"), HasSubstr("swapped"), HasSubstr("28 bytes"),
                    HasSubstr(std::to_string(0x03080000)), HasSubstr("0x03080000"),
                    HasSubstr("2051"), HasSubstr("expected 0x0000TTRR")));
  for (const int type : {0x00, 0x07, 0x0a, 0x0f, 0xff}) {
    EXPECT_THAT(refusal(idx_bytes(static_cast<std::uint8_t>(type), {1}, "a")),
                HasSubstr("is no IDX file"));
  }
  EXPECT_THAT(refusal(gzip("hello, world")),
              AllOf(HasSubstr("is no IDX file"), HasSubstr("gzip data"), HasSubstr("0x68656c6c")));
}

TEST_F(Idx, EveryCutIsAnErrorWithSizes) {
  for (std::size_t length = 0; length < images.size(); ++length) {
    EXPECT_THAT(refusal(images.substr(0, length), "cut.idx"),
                AllOf(HasSubstr("[read_idx]"), HasSubstr("cut.idx"), HasSubstr("is cut"),
                      HasSubstr("(" + std::to_string(length) + " bytes)")))
        << length;
  }
  EXPECT_THAT(refusal(images.substr(0, 20)),
              AllOf(HasSubstr("uint8 of shape (2, 2, 3) take 12 bytes"), HasSubstr("header of 16"),
                    HasSubstr("found 4")));
  EXPECT_THAT(refusal(images.substr(0, 10)), HasSubstr("3 lengths take 12 bytes, found 6"));
  EXPECT_THAT(refusal(""), HasSubstr("magic number take 4 bytes, found 0"));
}

TEST_F(Idx, EveryCutOfGzipDataIsAnError) {
  const std::string packed = gzip(images);
  for (std::size_t length = 2; length < packed.size(); ++length) {
    EXPECT_THAT(refusal(packed.substr(0, length), "cut.gz"),
                AllOf(HasSubstr("cut.gz"), HasSubstr("gzip data"), HasSubstr("end too early"),
                      HasSubstr("fetch it again")))
        << length;
  }
}

TEST_F(Idx, GzipDataOfAnotherChecksumAreBroken) {
  for (const std::size_t from_end : {8U, 4U}) {  // of the bytes, of their number
    std::string packed = gzip(images);
    packed[packed.size() - from_end] ^= 1;
    EXPECT_THAT(refusal(packed), AllOf(HasSubstr("gzip data"), HasSubstr("are broken after"),
                                       HasSubstr("fetch the file again")));
  }
}

TEST_F(Idx, BytesTooManyAreAnErrorWithSizes) {
  EXPECT_THAT(refusal(images + "zz", "long.idx"),
              AllOf(HasSubstr("long.idx"), HasSubstr("bytes too many"), HasSubstr("take 12 bytes"),
                    HasSubstr("found 14")));
  EXPECT_THAT(refusal(gzip(images + "zz")), AllOf(HasSubstr("bytes too many"), HasSubstr("more")));
  EXPECT_THAT(refusal(gzip(images) + gzip("zz")), HasSubstr("bytes too many"));
}

TEST_F(Idx, HugeClaimsAreRefusedBeforeMemoryIsTaken) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THAT(refusal(idx_bytes(0x0e, {most, 1000}, "abc")),
              AllOf(HasSubstr("is cut"), HasSubstr("float64 of shape (4294967295, 1000)"),
                    HasSubstr("take " + std::to_string(std::uint64_t{most} * 1000 * 8) + " bytes"),
                    HasSubstr("found 3")));
  EXPECT_THAT(refusal(gzip(idx_bytes(0x08, {most, 1024}, "abc"))),
              AllOf(HasSubstr("is cut"), HasSubstr("found at most")));
}

TEST_F(Idx, LengthsWhoseProductOverflowsAreRefused) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  const std::string beyond = "more bytes than 63 bits count";
  EXPECT_THAT(refusal(idx_bytes(0x08, {most, most, most}, "abc")), HasSubstr(beyond));
  EXPECT_THAT(refusal(idx_bytes(0x0e, {most, most / 2}, "abc")), HasSubstr(beyond));
  EXPECT_THAT(refusal(idx_bytes(0x08, std::vector<std::uint32_t>(255, most), "")),
              HasSubstr(beyond));
  // 65536 to the fourth is 2^64: an unchecked product would be 0.
  EXPECT_THAT(refusal(idx_bytes(0x08, {65536, 65536, 65536, 65536}, "")), HasSubstr(beyond));
}

TEST_F(Idx, WhatIsNoFileIsRefused) {
  const auto text = [](const std::filesystem::path& path) {
    return error_text<ValueError>([&] { (void)read_idx(path); });
  };
  EXPECT_THAT(text(folder_ / "nothing"),
              AllOf(HasSubstr("[read_idx]"), HasSubstr("cannot open"), HasSubstr("nothing"),
                    HasSubstr("No such file"), HasSubstr("errno 2")));
  EXPECT_THAT(text(folder_.path()), AllOf(HasSubstr("is a folder"), HasSubstr("expected a file")));
  EXPECT_THAT(text("/dev/null"), AllOf(HasSubstr("/dev/null"), HasSubstr("no regular file")));
}

TEST_F(Idx, AFileThatMayNotBeReadIsTheWorldsFault) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  write_file(folder_ / "secret", images);
  std::filesystem::permissions(folder_ / "secret", std::filesystem::perms::none);
  EXPECT_THAT(error_text<RuntimeError>([&] { (void)read_idx(folder_ / "secret"); }),
              AllOf(HasSubstr("cannot open"), HasSubstr("secret"), HasSubstr("Permission denied")));
}

TEST_F(Idx, WithoutMemoryForTheElementsTheErrorSaysHowMuch) {
  if (lockstep::testing::is_sanitized) GTEST_SKIP() << "sanitizers take address space of their own";
  // A gibibyte of zeros that takes no space on the disk.
  const std::string path = folder_ / "large.idx";
  write_file(path, idx_bytes(0x08, {1U << 30U}, ""));
  std::filesystem::resize_file(path, 8 + (std::uintmax_t{1} << 30U));
  EXPECT_EXIT(
      {
        limit_memory(std::uint64_t{256} << 20U);
        try {
          (void)read_idx(path);
        } catch (const RuntimeError& error) {
          fprintf(stderr, "%s\n", error.what());
          std::_Exit(7);
        }
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(7), "read_idx.*large.idx.*1073741824 bytes.*memory");
}

}  // namespace
}  // namespace lockstep::data
