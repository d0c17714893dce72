#pragma once
// Where plugin files may be, in the order of trial.
#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/pjrt/runtime.h"

namespace lockstep::pjrt {

// Candidates from LOCKSTEP_PJRT_PLUGIN_PATH, PJRT_NAMES_AND_LIBRARY_PATHS, TPU_LIBRARY_PATH, the
// set-up's folders and installed Python wheels, each file once. A variable that names no file gives
// a candidate with an error. Loads nothing.
[[nodiscard]] std::vector<PluginCandidate> discover_plugins();

// "cpu", "gpu" or "tpu" where a word of `name` says so, else "".
[[nodiscard]] std::string accelerator_of_name(const std::string& name);

// The folders in which Python packages may be installed, as far as they exist.
[[nodiscard]] std::vector<std::filesystem::path> python_package_folders();

// Whether candidates of this kind come from the set-up and are known not to end the process.
[[nodiscard]] bool is_from_setup(const PluginCandidate& candidate);

}  // namespace lockstep::pjrt
