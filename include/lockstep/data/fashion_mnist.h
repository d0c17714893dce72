#pragma once
/// Fashion-MNIST: 70,000 images of clothes, 28 by 28 pixels, in ten classes.
#include <filesystem>
#include <string_view>

#include "lockstep/data/dataset.h"

namespace lockstep::data {

/// Where Debian's package dataset-fashion-mnist puts the files.
inline constexpr std::string_view fashion_mnist_directory = "/usr/share/datasets/fashion-mnist";

/// How fashion_mnist reads.
struct FashionMnistOptions {
  /// The folder of the four IDX files, raw or gzip data, with or without ".gz", named
  /// "train-images-idx3-ubyte" or "train-images.idx3-ubyte".
  std::filesystem::path data_dir = fashion_mnist_directory;
  /// Images as rows of 784 numbers; else of shape (28, 28, 1).
  bool flatten = true;
};

/// The 60,000 examples of split "train" or the 10,000 of "test" (any data set in the same format
/// serves): column "image", float32 in [0, 1] in batches, and "label", int32 in [0, 10).
///
/// ValueError for another split; for a missing folder or file, naming the folder, the files and how
/// to get them; where a file is no IDX file of images or labels; where the numbers of images and
/// labels differ; for images of another size and labels out of range, naming the row.
[[nodiscard]] Dataset fashion_mnist(std::string_view split,
                                    const FashionMnistOptions& options = {});

}  // namespace lockstep::data
