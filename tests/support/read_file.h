#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace lockstep::testing {

// The bytes of a file; empty where it cannot be read.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace lockstep::testing
