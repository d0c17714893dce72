#include "pjrt/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>
#include <string_view>

#include "lockstep/base/environment.h"

namespace lockstep::pjrt {
namespace {

namespace fs = std::filesystem;

constexpr const char* setup_name = "the set-up's folder";

class Candidates {
 public:
  void add(const fs::path& path, std::string accelerator, std::string found_by,
           std::string problem = {}) {
    std::error_code error;
    fs::path canonical = fs::canonical(path, error);
    if (error) {
      canonical = path;
      if (problem.empty()) problem = error.message();
    }
    if (!seen_.insert(canonical.string()).second) return;
    const bool tried = !problem.empty();
    found_.push_back({.accelerator = std::move(accelerator),
                      .path = canonical.string(),
                      .found_by = std::move(found_by),
                      .tried = tried,
                      .error = std::move(problem)});
  }
  [[nodiscard]] std::vector<PluginCandidate> take() { return std::move(found_); }

 private:
  std::set<std::string> seen_;
  std::vector<PluginCandidate> found_;
};

bool is_library(const fs::path& path) {
  std::error_code error;
  const std::string name = path.filename().string();
  return (name.ends_with(".so") || name.find(".so.") != std::string::npos) &&
         fs::is_regular_file(path, error);
}

// The libraries in a folder by name, so that the order is the same on every machine.
std::vector<fs::path> libraries_in(const fs::path& folder) {
  std::vector<fs::path> libraries;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (is_library(entry.path())) libraries.push_back(entry.path());
  }
  std::sort(libraries.begin(), libraries.end());
  return libraries;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string accelerator_of_file(const fs::path& path) {
  const std::string by_name = accelerator_of_name(path.filename().string());
  return by_name.empty() ? accelerator_of_name(path.parent_path().filename().string()) : by_name;
}

void add_plugin_path(Candidates& candidates) {
  constexpr const char* variable = "LOCKSTEP_PJRT_PLUGIN_PATH";
  const std::string value = environment_variable(variable).value_or("");
  if (value.empty()) return;
  std::error_code error;
  if (!fs::is_directory(value, error)) {
    candidates.add(value, accelerator_of_file(value), variable);
    return;
  }
  std::vector<fs::path> libraries = libraries_in(value);
  for (const fs::path& folder : folders_in(value)) {
    const std::vector<fs::path> inner = libraries_in(folder);
    libraries.insert(libraries.end(), inner.begin(), inner.end());
  }
  for (const fs::path& library : libraries) {
    candidates.add(library, accelerator_of_file(library), variable);
  }
  if (libraries.empty()) {
    candidates.add(value, "", variable, "neither this folder nor one in it holds a library (*.so)");
  }
}

void add_names_and_paths(Candidates& candidates) {
  constexpr const char* variable = "PJRT_NAMES_AND_LIBRARY_PATHS";
  std::istringstream entries(environment_variable(variable).value_or(""));
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (entry.empty()) continue;
    const std::size_t colon = entry.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == entry.size()) {
      candidates.add(entry, "", variable,
                     fmt::format("the entry '{}' is not of the form name:path", entry));
      continue;
    }
    const std::string name = entry.substr(0, colon);
    const fs::path path = entry.substr(colon + 1);
    const std::string by_name = accelerator_of_name(name);
    candidates.add(path, by_name.empty() ? accelerator_of_file(path) : by_name, variable);
  }
}

fs::path executable_folder() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : executable.parent_path();
}

// A set-up's folder holds one folder for each accelerator; others in it (older plugins for tests)
// are no candidates.
void add_setup_folder(Candidates& candidates, const fs::path& folder) {
  for (const char* name : {"tpu", "cuda", "rocm", "oneapi", "gpu", "cpu"}) {
    for (const fs::path& library : libraries_in(folder / name)) {
      candidates.add(library, accelerator_of_name(name), setup_name);
    }
  }
}

void add_setup_folders(Candidates& candidates) {
  const fs::path folder = executable_folder();
  if (!folder.empty()) {
    add_setup_folder(candidates, folder / "pjrt");
    const fs::path library = folder.parent_path() / "lib";
    add_setup_folder(candidates, library / "lockstep" / "pjrt");
    for (const fs::path& architecture : folders_in(library)) {
      add_setup_folder(candidates, architecture / "lockstep" / "pjrt");
    }
  }
  add_setup_folder(candidates, LOCKSTEP_BUILD_PJRT_DIR);
  add_setup_folder(candidates, LOCKSTEP_INSTALL_PJRT_DIR);
}

void add_wheels(Candidates& candidates) {
  for (const fs::path& packages : python_package_folders()) {
    const fs::path tpu = packages / "libtpu" / "libtpu.so";
    if (is_library(tpu)) {
      candidates.add(tpu, "tpu", fmt::format("Python wheel libtpu in {}", packages.string()));
    }
    for (const fs::path& plugin : folders_in(packages / "jax_plugins")) {
      for (const fs::path& library : libraries_in(plugin)) {
        // A wheel's folder may hold libraries besides the plugin.
        const std::string name = library.filename().string();
        if (name.find("plugin") == std::string::npos && name.find("pjrt") == std::string::npos) {
          continue;
        }
        candidates.add(library, accelerator_of_file(library),
                       fmt::format("Python wheel jax_plugins/{} in {}", plugin.filename().string(),
                                   packages.string()));
      }
    }
  }
}

}  // namespace

std::string accelerator_of_name(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::pair<std::string_view, const char*>, 8> words{{{"tpu", "tpu"},
                                                                           {"cuda", "gpu"},
                                                                           {"rocm", "gpu"},
                                                                           {"oneapi", "gpu"},
                                                                           {"sycl", "gpu"},
                                                                           {"xpu", "gpu"},
                                                                           {"gpu", "gpu"},
                                                                           {"cpu", "cpu"}}};
  for (const auto& [word, accelerator] : words) {
    if (lower.find(word) != std::string::npos) return accelerator;
  }
  return "";
}

bool is_from_setup(const PluginCandidate& candidate) {
  return candidate.found_by == setup_name;
}

std::vector<PluginCandidate> discover_plugins() {
  Candidates candidates;
  add_plugin_path(candidates);
  add_names_and_paths(candidates);
  if (const auto path = environment_variable("TPU_LIBRARY_PATH"); path && !path->empty()) {
    candidates.add(*path, "tpu", "TPU_LIBRARY_PATH");
  }
  add_setup_folders(candidates);
  add_wheels(candidates);
  return candidates.take();
}

}  // namespace lockstep::pjrt
