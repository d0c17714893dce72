#pragma once
// What the tests of data/ share: files as bytes, small data sets, four CPU devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "lockstep/data/dataset.h"
#include "support/cpu_devices.h"
#include "support/error_text.h"
#include "support/sanitizers.h"
#include "support/temporary_directory.h"

namespace lockstep::data {

using lockstep::testing::error_text;

inline const ::testing::Environment* const four_cpu_devices = lockstep::testing::use_cpu_devices(4);

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  // A new file each time: some file systems write one that is cut to nothing out to the disk at
  // once.
  std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

// `bytes` as one gzip member.
inline std::string gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("cannot pack");
  return packed;
}

// The bytes of numbers, most or least significant first.
template <class T>
std::string number_bytes(const std::vector<T>& values, std::endian order) {
  std::string bytes;
  for (const T& value : values) {
    std::string one(reinterpret_cast<const char*>(&value), sizeof(T));
    if (order != std::endian::native) std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

// An IDX file: type code, lengths, and the elements' bytes as they are.
inline std::string idx_bytes(std::uint8_t type, const std::vector<std::uint32_t>& lengths,
                             const std::string& elements) {
  const std::string magic{'\0', '\0', static_cast<char>(type), static_cast<char>(lengths.size())};
  return magic + number_bytes(lengths, std::endian::big) + elements;
}

// An NPY file with this text as its header, exactly.
inline std::string npy_bytes(const std::string& header, const std::string& elements,
                             int major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  bytes += major == 1 ? number_bytes<std::uint16_t>({static_cast<std::uint16_t>(length)},
                                                    std::endian::little)
                      : number_bytes<std::uint32_t>({length}, std::endian::little);
  return bytes + header + elements;
}

// 0, 1, ..., count - 1.
template <class T>
std::vector<T> counting(std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  return values;
}

// Rows i = 0, 1, ... with label i, x (10 i, 10 i + 1, 10 i + 2) and a uint8 image (i, i + 1) modulo
// 256 that batches get as float32 in [0, 1].
inline Dataset counting_dataset(std::int64_t rows) {
  std::vector<std::int32_t> x;
  std::vector<std::uint8_t> image;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < 3; ++j) x.push_back(10 * i + j);
    for (std::int32_t j = 0; j < 2; ++j) image.push_back(static_cast<std::uint8_t>(i + j));
  }
  return Dataset({{"image", Column(HostTensor::from(image, {rows, 2}), true)},
                  {"label", HostTensor::from(counting<std::int32_t>(rows), {rows})},
                  {"x", HostTensor::from(x, {rows, 3})}});
}

// Random bits without a device: SplitMix64 of the key's words, the epoch and the place.
inline std::vector<std::uint32_t> host_epoch_bits(const Array& key, std::int64_t epoch,
                                                  std::int64_t count) {
  const std::vector<std::uint32_t> words = key.to_vector<std::uint32_t>();
  std::vector<std::uint32_t> bits;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t z = (std::uint64_t{words[0]} << 32U | words[1]) +
                      0x9e3779b97f4a7c15U * static_cast<std::uint64_t>(1 + i + 1'000'003 * epoch);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    bits.push_back(static_cast<std::uint32_t>(z >> 32U));
  }
  return bits;
}

// In a child process: no more address space than is in use and `further_bytes`.
inline void limit_memory(std::uint64_t further_bytes) {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages;
  const rlim_t most = pages * 4096 + further_bytes;
  const rlimit limit{most, most};
  if (!statm || setrlimit(RLIMIT_AS, &limit) != 0) std::abort();
}

}  // namespace lockstep::data
