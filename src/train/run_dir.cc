#include "lockstep/train/run_dir.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/number_text.h"
#include "train/output_file.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view where = "RunDirectory";

[[noreturn]] void fail(std::string_view action, const fs::path& path, int error_number) {
  throw_runtime_error(where, fmt::format("cannot {} '{}': {}. Give another root_dir, or mend its "
                                         "permissions",
                                         action, path.string(), system_error_text(error_number)));
}

// Folders made so far, taken back unless kept.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) ::rmdir(path->c_str());
  }

  // False where something of that name is there already.
  bool make(const fs::path& path) {
    if (::mkdir(path.c_str(), 0777) == 0) {
      paths_.push_back(path);
      return true;
    }
    if (errno != EEXIST) fail("make the folder", path, errno);
    return false;
  }

  void make_with_parents(const fs::path& path) {
    fs::path so_far;
    for (const fs::path& part : path) {
      so_far /= part;
      if (part.empty() || ::access(so_far.c_str(), F_OK) == 0) continue;
      make(so_far);
    }
    std::error_code error;
    if (!fs::is_directory(path, error))
      fail("use as a folder", path, error ? error.value() : ENOTDIR);
  }

  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

std::int64_t next_version(const fs::path& parent) {
  constexpr std::string_view prefix = "version_";
  std::int64_t next = 0;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::optional<std::int64_t> version =
        parse_integer(std::string_view(name).substr(prefix.size()));
    if (version && *version >= next && *version < INT64_MAX) next = *version + 1;
  }
  if (error) fail("read the folder", parent, error.value());
  return next;
}

}  // namespace

RunDirectory RunDirectory::create(const RunDirectoryOptions& options) {
  const std::string& name = options.name;
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    throw_value_error(where, fmt::format("'{}' cannot be a run's name; expected one component of a "
                                         "path, without '/'",
                                         name));
  }
  const fs::path root = options.root_dir.empty() ? fs::path(".") : options.root_dir;
  const fs::path parent = fs::absolute(root / name).lexically_normal();
  MadeFolders made;
  made.make_with_parents(parent);
  std::int64_t version = next_version(parent);
  while (!made.make(parent / ("version_" + number_text(version)))) ++version;
  RunDirectory directory(parent / ("version_" + number_text(version)));
  directory.check_writable();
  made.keep();
  return directory;
}

RunDirectory RunDirectory::open(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    throw_value_error(where, fmt::format("there is no run folder '{}': {}", path.string(),
                                         system_error_text(error ? error.value() : ENOTDIR)));
  }
  RunDirectory directory(fs::absolute(path).lexically_normal());
  directory.check_writable();
  return directory;
}

void RunDirectory::check_writable() const {
  const fs::path probe = path_ / ".write_test.tmp";
  try {
    OutputFile file(std::string(where), probe, OutputFile::Open::Truncate);
    // A block, so that a full disk or an exhausted quota shows.
    file.write_at(0, std::string(4096, '\n'));
    file.synchronize();
  } catch (const RuntimeError&) {
    ::unlink(probe.c_str());
    throw;
  }
  ::unlink(probe.c_str());
}

void RunDirectory::write_file(const std::string& file_name, std::string_view text) const {
  write_file_atomically(where, path_ / file_name, text);
}

void RunDirectory::write_config(const Hyperparameters& hyperparameters) const {
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  for (const auto& [name, value] : hyperparameters) {
    std::visit([&, &key = name](const auto& setting) { config[key] = setting; }, value);
  }
  constexpr auto replace_bad_utf8 = nlohmann::ordered_json::error_handler_t::replace;
  write_file("config.json", config.dump(2, ' ', false, replace_bad_utf8) + "\n");
}

}  // namespace lockstep
