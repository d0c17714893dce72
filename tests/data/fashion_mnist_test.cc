#include "lockstep/data/fashion_mnist.h"

#include <numeric>

#include "data_test_support.h"

namespace lockstep::data {
namespace {

using lockstep::testing::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::int64_t pixels = 28 * 28;

// Image i has every pixel i; label i modulo 10.
std::string small_images(std::uint32_t count) {
  std::string elements;
  for (std::uint32_t i = 0; i < count; ++i) elements += std::string(pixels, static_cast<char>(i));
  return idx_bytes(0x08, {count, 28, 28}, elements);
}
std::string small_labels(std::uint32_t count) {
  std::string elements;
  for (std::uint32_t i = 0; i < count; ++i) elements += static_cast<char>(i % 10);
  return idx_bytes(0x08, {count}, elements);
}

class FashionMnist : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "train-images-idx3-ubyte", small_images(12));
    write_file(folder_ / "train-labels-idx1-ubyte", small_labels(12));
    write_file(folder_ / "t10k-images-idx3-ubyte.gz", gzip(small_images(3)));
    write_file(folder_ / "t10k-labels-idx1-ubyte.gz", gzip(small_labels(3)));
  }
  Dataset load(std::string_view split, bool flatten = true) const {
    return fashion_mnist(split, {.data_dir = folder_.path(), .flatten = flatten});
  }
  std::string refusal(std::string_view split) const {
    return error_text<ValueError>([&] { (void)load(split); });
  }
  TemporaryDirectory folder_;
};

TEST_F(FashionMnist, SplitsHaveImagesInUnitRangeAndLabels) {
  const Dataset train = load("train");
  EXPECT_EQ(train.num_rows(), 12);
  EXPECT_EQ(train.column("image").values.shape(), (Shape{12, pixels}));
  EXPECT_EQ(train.column("image").batch_dtype(), float32);
  EXPECT_TRUE(train.column("image").unit_scale);
  EXPECT_EQ(train.column("label").values.dtype(), int32);
  for (std::int32_t row = 0; row < 12; ++row) {
    EXPECT_THAT(train.column("image").values.rows(row, row + 1).values<std::uint8_t>(), Each(row));
    EXPECT_EQ(train.column("label").values.values<std::int32_t>()[static_cast<std::size_t>(row)],
              row % 10);
  }
  EXPECT_EQ(load("test").num_rows(), 3);
  EXPECT_EQ(load("train", false).column("image").values.shape(), (Shape{12, 28, 28, 1}));
}

TEST_F(FashionMnist, C069_BothNamingsPackedOrNotGiveTheSame) {
  const Dataset expected = load("train");
  const std::string raw_images = small_images(12);
  const std::string raw_labels = small_labels(12);
  for (const std::string kind : {"images-idx3-ubyte", "images.idx3-ubyte"}) {
    for (const std::string ending : {"", ".gz"}) {
      for (const bool packed : {false, true}) {
        const TemporaryDirectory other;
        std::string label_kind = kind;
        label_kind.replace(0, 6, "labels").replace(label_kind.find('3'), 1, "1");
        write_file(other / ("train-" + kind + ending), packed ? gzip(raw_images) : raw_images);
        write_file(other / ("train-" + label_kind + ending),
                   packed ? gzip(raw_labels) : raw_labels);
        const Dataset found = fashion_mnist("train", {.data_dir = other.path()});
        for (const char* column : {"image", "label"}) {
          EXPECT_TRUE(found.column(column).values.identical(expected.column(column).values))
              << kind << ending << packed;
        }
      }
    }
  }
}

TEST_F(FashionMnist, AnotherSplitIsRefused) {
  EXPECT_THAT(refusal("validation"), AllOf(HasSubstr("[fashion_mnist]"), HasSubstr("'validation'"),
                                           HasSubstr("train or test")));
}

TEST_F(FashionMnist, AMissingFolderOrFileSaysHowToGetIt) {
  const auto how =
      AllOf(HasSubstr("train-images-idx3-ubyte"), HasSubstr("t10k-labels-idx1-ubyte"),
            HasSubstr("apt-get install dataset-fashion-mnist"), HasSubstr("--data DIR"));
  const std::string nowhere = folder_ / "nowhere";
  EXPECT_THAT(error_text<ValueError>([&] { (void)fashion_mnist("train", {.data_dir = nowhere}); }),
              AllOf(HasSubstr("[fashion_mnist]"), HasSubstr("no folder"), HasSubstr(nowhere), how));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)fashion_mnist("train", {.data_dir = folder_ / "train-images-idx3-ubyte"});
              }),
              AllOf(HasSubstr("no folder"), how));
  std::filesystem::remove(folder_ / "train-labels-idx1-ubyte");
  EXPECT_THAT(refusal("train"), AllOf(HasSubstr("no file train-labels-idx1-ubyte[.gz]"),
                                      HasSubstr(folder_.path().string()), how));
}

TEST_F(FashionMnist, DifferentNumbersOfImagesAndLabelsAreNamed) {
  write_file(folder_ / "train-labels-idx1-ubyte", small_labels(11));
  EXPECT_THAT(refusal("train"),
              AllOf(HasSubstr("train-images-idx3-ubyte' holds 12 images"),
                    HasSubstr("train-labels-idx1-ubyte' 11 labels"), HasSubstr("as many of each")));
}

TEST_F(FashionMnist, FilesOfAnotherKindAreRefused) {
  write_file(folder_ / "train-images-idx3-ubyte", small_labels(12));
  EXPECT_THAT(refusal("train"),
              AllOf(HasSubstr("train-images-idx3-ubyte"), HasSubstr("uint8 of shape (12,)"),
                    HasSubstr("expected images"), HasSubstr("rank 3"), HasSubstr("2051")));
  write_file(folder_ / "train-labels-idx1-ubyte", small_images(12));
  EXPECT_THAT(refusal("train"), AllOf(HasSubstr("train-labels-idx1-ubyte"),
                                      HasSubstr("expected labels"), HasSubstr("2049")));
  write_file(folder_ / "train-labels-idx1-ubyte",
             idx_bytes(0x0c, {2}, number_bytes<std::int32_t>({1, 2}, std::endian::big)));
  EXPECT_THAT(refusal("train"), AllOf(HasSubstr("int32 of shape (2,)"), HasSubstr("uint8")));
}

TEST_F(FashionMnist, ImagesOfAnotherSizeAndLabelsOutOfRangeAreNamed) {
  write_file(folder_ / "train-images-idx3-ubyte",
             idx_bytes(0x08, {12, 2, 3}, std::string(72, 'x')));
  EXPECT_THAT(refusal("train"), AllOf(HasSubstr("train-images-idx3-ubyte"),
                                      HasSubstr("2 by 3 pixels"), HasSubstr("28 by 28")));
  std::string labels = small_labels(12);
  labels[8 + 7] = '\x0a';
  write_file(folder_ / "train-labels-idx1-ubyte", labels);
  EXPECT_THAT(refusal("train"), AllOf(HasSubstr("label 10 of row 7"),
                                      HasSubstr("train-labels-idx1-ubyte"), HasSubstr("0 to 9")));
}

TEST_F(FashionMnist, CutFilesAreRefusedByName) {
  const std::string packed = gzip(small_images(3));
  write_file(folder_ / "t10k-images-idx3-ubyte.gz", packed.substr(0, packed.size() / 2));
  EXPECT_THAT(refusal("test"), AllOf(HasSubstr("t10k-images-idx3-ubyte.gz"),
                                     HasSubstr("end too early"), HasSubstr("fetch it again")));
}

TEST(FashionMnistOfDebian, HasSeventyThousandImagesTenClassesAlike) {
  if (!std::filesystem::is_directory(fashion_mnist_directory)) {
    GTEST_SKIP() << "Debian's package dataset-fashion-mnist is not installed: there is no "
                 << fashion_mnist_directory;
  }
  for (const auto& [split, rows] : {std::pair("train", 60000), std::pair("test", 10000)}) {
    const Dataset data = fashion_mnist(split);
    EXPECT_EQ(data.num_rows(), rows);
    EXPECT_EQ(data.to_string(),
              std::to_string(rows) + " rows: image uint8 (784,) scaled to float32, label int32 ()");
    std::vector<int> counts(10);
    for (const std::int32_t label : data.column("label").values.values<std::int32_t>()) {
      ++counts[static_cast<std::size_t>(label)];
    }
    EXPECT_THAT(counts, Each(rows / 10));
    const auto image_bytes = data.column("image").values.values<std::uint8_t>();
    EXPECT_EQ(*std::max_element(image_bytes.begin(), image_bytes.end()), 255);
    EXPECT_EQ(*std::min_element(image_bytes.begin(), image_bytes.end()), 0);
  }
}

}  // namespace
}  // namespace lockstep::data
