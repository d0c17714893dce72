#include "cli/tiny_fashion_mnist.h"

#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace lockstep::testing {
namespace {

void put_big_endian(std::ofstream& file, std::uint32_t word) {
  for (const int shift : {24, 16, 8, 0}) file.put(static_cast<char>((word >> shift) & 0xFFU));
}

void write_split(const std::filesystem::path& folder, const std::string& split, std::uint32_t rows,
                 std::uint32_t seed) {
  constexpr std::uint32_t side = 28;
  std::mt19937 random(seed);
  std::ofstream images(folder / (split + "-images-idx3-ubyte"), std::ios::binary);
  std::ofstream labels(folder / (split + "-labels-idx1-ubyte"), std::ios::binary);
  for (const std::uint32_t word : {2051U, rows, side, side}) put_big_endian(images, word);
  for (const std::uint32_t word : {2049U, rows}) put_big_endian(labels, word);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t label = row % 10;
    labels.put(static_cast<char>(label));
    for (std::uint32_t y = 0; y < side; ++y) {
      const bool bright = y >= 2 * label && y < 2 * label + 4;
      for (std::uint32_t x = 0; x < side; ++x) {
        images.put(static_cast<char>(bright ? 200 + random() % 56 : random() % 32));
      }
    }
  }
}

}  // namespace

void write_tiny_fashion_mnist(const std::filesystem::path& folder, std::uint32_t train_rows,
                              std::uint32_t test_rows) {
  std::filesystem::create_directories(folder);
  write_split(folder, "train", train_rows, 1);
  write_split(folder, "t10k", test_rows, 2);
}

}  // namespace lockstep::testing
