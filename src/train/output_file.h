#pragma once
/// A file that is written at known offsets, with the path in every error.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep {

/// Owns a file descriptor. RuntimeError with `where`, the path and the system's reason for whatever
/// fails.
class OutputFile {
 public:
  enum class Open { CreateNew, OpenOrCreate, Truncate };

  OutputFile(std::string where, std::filesystem::path path, Open mode);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] std::int64_t size() const;
  void write_at(std::int64_t offset, std::string_view text);
  void truncate(std::int64_t size);
  void synchronize();  ///< fdatasync
  /// Takes the name of `path` at once, replacing what has it.
  void rename_to(const std::filesystem::path& path);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail(std::string_view action, int error_number) const;

  std::string where_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Writes the whole of a file under a temporary name, synchronises it and renames it: `path` is
/// complete or as it was before.
void write_file_atomically(std::string_view where, const std::filesystem::path& path,
                           std::string_view text);

}  // namespace lockstep
