#include "lockstep/data/fashion_mnist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

#include "lockstep/base/error.h"
#include "lockstep/data/idx.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view where = "fashion_mnist";
constexpr std::int64_t image_side = 28;
constexpr int num_classes = 10;

[[noreturn]] void fail_missing(const fs::path& folder, std::string_view what) {
  throw_value_error(
      where, fmt::format("{} in '{}'; expected the files train-images-idx3-ubyte, "
                         "train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
                         "t10k-labels-idx1-ubyte there, packed (.gz) or not. Get them by `apt-get "
                         "install dataset-fashion-mnist`, or name their folder by data_dir "
                         "(--data DIR)",
                         what, folder.string()));
}

// `kind`: "images-idx3-ubyte"; some mirrors write it with a dot.
fs::path find_file(const fs::path& folder, std::string_view prefix, std::string_view kind,
                   std::string_view dotted_kind) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) fail_missing(folder, "there is no folder of data");
  for (const std::string_view spelled : {kind, dotted_kind}) {
    for (const std::string_view ending : {"", ".gz"}) {
      fs::path path = folder / fmt::format("{}-{}{}", prefix, spelled, ending);
      if (fs::is_regular_file(path, ignored)) return path;
    }
  }
  fail_missing(folder, fmt::format("there is no file {}-{}[.gz]", prefix, kind));
}

HostTensor read_part(const fs::path& path, std::size_t rank, std::string_view content) {
  HostTensor part = read_idx(path);
  if (part.dtype() != DType::UInt8 || part.shape().size() != rank) {
    const std::size_t expected = 0x800U + rank;
    throw_value_error(
        where, fmt::format("'{}' holds {} of shape {}; expected {}: uint8 of rank {}, "
                           "magic number {}",
                           path.string(), to_string(part.dtype()), to_string(part.shape()), content,
                           rank, expected));
  }
  return part;
}

HostTensor labels_as_int32(const fs::path& path, const HostTensor& stored) {
  HostTensor labels = HostTensor::empty(DType::Int32, stored.shape());
  const std::span<const std::uint8_t> source = stored.values<std::uint8_t>();
  const std::span<std::int32_t> destination = labels.mutable_values<std::int32_t>();
  for (std::size_t row = 0; row < source.size(); ++row) {
    if (source[row] >= num_classes) {
      throw_value_error(where, fmt::format("label {} of row {} in '{}' is out of range; expected 0 "
                                           "to {}",
                                           source[row], row, path.string(), num_classes - 1));
    }
    destination[row] = source[row];
  }
  return labels;
}

}  // namespace

Dataset fashion_mnist(std::string_view split, const FashionMnistOptions& options) {
  if (split != "train" && split != "test") {
    throw_value_error(where, fmt::format("there is no split '{}'; expected train or test", split));
  }
  const std::string_view prefix = split == "train" ? "train" : "t10k";
  const fs::path& folder = options.data_dir;
  const fs::path image_path = find_file(folder, prefix, "images-idx3-ubyte", "images.idx3-ubyte");
  const fs::path label_path = find_file(folder, prefix, "labels-idx1-ubyte", "labels.idx1-ubyte");

  const HostTensor labels = labels_as_int32(label_path, read_part(label_path, 1, "labels"));
  const HostTensor images = read_part(image_path, 3, "images");
  const std::int64_t count = images.shape()[0];
  if (images.shape()[1] != image_side || images.shape()[2] != image_side) {
    throw_value_error(where, fmt::format("'{}' holds images of {} by {} pixels; expected {} by {}",
                                         image_path.string(), images.shape()[1], images.shape()[2],
                                         image_side, image_side));
  }
  if (labels.shape()[0] != count) {
    throw_value_error(
        where, fmt::format("'{}' holds {} images and '{}' {} labels; expected as many "
                           "of each",
                           image_path.string(), count, label_path.string(), labels.shape()[0]));
  }
  const Shape image_shape = options.flatten ? Shape{count, image_side * image_side}
                                            : Shape{count, image_side, image_side, 1};
  return Dataset({{"image", Column(images.reshape(image_shape), true)}, {"label", Column(labels)}});
}

}  // namespace lockstep::data
