#pragma once
/// The bytes of a file, unpacked if they are gzip data.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::data {

/// Reads a regular file from its beginning. Whether it is gzip data is told by its first two
/// bytes, never by its name. Every error names `where` and the file.
class ByteSource {
 public:
  /// ValueError where there is no such regular file, RuntimeError where it cannot be read.
  ByteSource(std::string_view where, const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills `destination`; the count is less only where the bytes end.
  /// ValueError for broken gzip data, RuntimeError where the system fails.
  [[nodiscard]] std::size_t read(std::span<std::byte> destination);

  /// Bytes handed out so far.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// No more bytes than this can come in all: the file's length, times the largest ratio that
  /// deflate can reach if it is packed. What a header claims is held against it before memory is
  /// taken.
  [[nodiscard]] std::uint64_t most_bytes() const;
  [[nodiscard]] bool is_gzip() const { return inflater_ != nullptr; }
  /// "file 'x.gz' (gzip data, 5125 bytes packed)", for errors.
  [[nodiscard]] std::string description() const;

 private:
  class Inflater;
  [[nodiscard]] std::size_t read_file(std::span<std::byte> destination);

  std::string where_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t position_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace lockstep::data
