#pragma once
/// The folder of one run.
#include <filesystem>
#include <string>
#include <string_view>

#include "lockstep/train/logger.h"

namespace lockstep {

/// Where a run's folder is made.
struct RunDirectoryOptions {
  std::filesystem::path root_dir = "runs";
  std::string name = "run";  ///< one path component, taken literally
};

/// A run's folder: root_dir/name/version_N.
class RunDirectory {
 public:
  /// Makes the folder with the next free N: mkdir decides, so that two jobs started at the same
  /// time get different ones. Missing parents are made. Then writes and removes a small file in it.
  /// Call it on global rank zero, before anything slow: RuntimeError with the path and the system's
  /// reason where the folder cannot be made or written, and nothing half-made is left behind.
  /// ValueError for a name that is empty, has a '/', or is "." or "..".
  [[nodiscard]] static RunDirectory create(const RunDirectoryOptions& options);
  /// An existing folder, to continue its run; checked as above. ValueError where there is none.
  [[nodiscard]] static RunDirectory open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes `text` to a file in the folder: complete, or not at all.
  void write_file(const std::string& file_name, std::string_view text) const;
  /// Writes the settings to config.json, one key a line.
  void write_config(const Hyperparameters& hyperparameters) const;

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  void check_writable() const;

  std::filesystem::path path_;
};

}  // namespace lockstep
