#pragma once
/// The runtime: which plugins this process has, and the one client of each backend.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/pjrt/client.h"
#include "lockstep/pjrt/device.h"

namespace lockstep {

/// A plugin file that discovery found, before or after it was tried.
struct PluginCandidate {
  std::string accelerator;  ///< "cpu", "gpu", "tpu", or "" where the file does not tell
  std::string path;
  std::string found_by;  ///< e.g. "LOCKSTEP_PJRT_PLUGIN_PATH", "Python wheel jax-cuda13-pjrt"
  bool tried = false;
  std::string error;  ///< why it cannot be used, where it was tried and failed
};

/// How many CPU devices this process exposes. Before it the field's
/// XLA_FLAGS=--xla_force_host_platform_device_count=N and LOCKSTEP_CPU_DEVICES count; default 1.
/// RuntimeError after the CPU backend has started; ValueError unless positive.
void set_cpu_device_count(std::int64_t count);

/// The devices of "cpu", "gpu", "tpu", or of the best visible backend for "auto" (tpu, gpu, cpu),
/// by process index, then id. Starts the backend on first use. ValueError for another name, listing
/// these. RuntimeError where the backend cannot be loaded: the accelerator, each plugin tried with
/// its error, and the command that would install one.
[[nodiscard]] const std::vector<Device>& devices(const std::string& accelerator = "auto");

/// The device of new arrays: the first addressable of devices("auto").
[[nodiscard]] Device default_device();

/// This process's index in its job; 0 alone.
[[nodiscard]] std::int64_t process_index();
[[nodiscard]] std::int64_t process_count();

/// Whether any backend has started (after which settings that shape backends are refused).
[[nodiscard]] bool backends_started();

/// Every plugin file found, in the order of trial, with the outcome for those that were tried.
[[nodiscard]] std::vector<PluginCandidate> plugin_candidates();

}  // namespace lockstep
