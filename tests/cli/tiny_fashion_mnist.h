#pragma once
#include <cstdint>
#include <filesystem>

namespace lockstep::testing {

// Writes a data set in Fashion-MNIST's format that a small model learns at once: the image of class
// k has a bright bar at rows 2k to 2k + 3 and noise elsewhere. Raw IDX files.
void write_tiny_fashion_mnist(const std::filesystem::path& folder, std::uint32_t train_rows = 512,
                              std::uint32_t test_rows = 96);

}  // namespace lockstep::testing
