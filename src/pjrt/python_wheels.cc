// Folders of installed Python packages, found without running Python.
#include <algorithm>
#include <sstream>

#include "lockstep/base/environment.h"
#include "pjrt/discovery.h"

namespace lockstep::pjrt {
namespace {

namespace fs = std::filesystem;

class Folders {
 public:
  void add(const fs::path& folder) {
    std::error_code error;
    const fs::path canonical = fs::canonical(folder, error);
    if (error || !fs::is_directory(canonical, error)) return;
    if (std::find(found_.begin(), found_.end(), canonical) == found_.end()) {
      found_.push_back(canonical);
    }
  }

  // PREFIX/lib/python3*/{site,dist}-packages, the latest Python first.
  void add_prefix(const fs::path& prefix) {
    for (const char* library : {"lib", "lib64"}) {
      std::vector<fs::path> versions;
      std::error_code error;
      for (const fs::directory_entry& entry : fs::directory_iterator(prefix / library, error)) {
        if (entry.path().filename().string().starts_with("python3")) {
          versions.push_back(entry.path());
        }
      }
      std::sort(versions.rbegin(), versions.rend());
      for (const fs::path& version : versions) {
        add(version / "site-packages");
        add(version / "dist-packages");
      }
    }
  }

  [[nodiscard]] std::vector<fs::path> take() { return std::move(found_); }

 private:
  std::vector<fs::path> found_;
};

std::vector<std::string> path_entries(const std::string& variable) {
  std::istringstream text(environment_variable(variable).value_or(""));
  std::vector<std::string> entries;
  for (std::string entry; std::getline(text, entry, ':');) {
    if (!entry.empty()) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

std::vector<std::filesystem::path> python_package_folders() {
  Folders folders;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = environment_variable(variable)) folders.add_prefix(*prefix);
  }
  for (const std::string& entry : path_entries("PYTHONPATH")) folders.add(entry);
  for (const std::string& entry : path_entries("PATH")) {
    std::error_code error;
    if (!fs::exists(fs::path(entry) / "python3", error)) continue;
    folders.add_prefix(fs::path(entry).parent_path());
    const fs::path interpreter = fs::canonical(fs::path(entry) / "python3", error);
    if (!error) folders.add_prefix(interpreter.parent_path().parent_path());
  }
  if (const auto home = environment_variable("HOME"))
    folders.add_prefix(fs::path(*home) / ".local");
  folders.add_prefix("/usr/local");
  folders.add_prefix("/usr");
  folders.add("/usr/lib/python3/dist-packages");
  return folders.take();
}

}  // namespace lockstep::pjrt
