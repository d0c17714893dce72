// `lockstep devices`: the plugins that were found, and the devices of each backend.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "lockstep/base/error.h"
#include "lockstep/pjrt/runtime.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DevicesOptions {
  std::string accelerator;
  bool json = false;
};

// A backend's devices, or why it has none.
struct Backend {
  std::string accelerator;
  std::vector<Device> devices;
  std::string error;
};

Backend start_backend(const std::string& accelerator) {
  Backend backend{.accelerator = accelerator, .devices = {}, .error = {}};
  try {
    backend.devices = devices(accelerator);
  } catch (const RuntimeError& error) {
    backend.error = error.what();
  }
  return backend;
}

// Backends worth trying where none was asked for: cpu, and those that some plugin may serve.
std::vector<Backend> start_visible_backends() {
  std::vector<Backend> backends{start_backend("cpu")};
  for (const std::string accelerator : {"gpu", "tpu"}) {
    const std::vector<PluginCandidate> candidates = plugin_candidates();
    const bool found =
        std::any_of(candidates.begin(), candidates.end(), [&](const auto& candidate) {
          return candidate.accelerator == accelerator || candidate.accelerator.empty();
        });
    if (found) backends.push_back(start_backend(accelerator));
  }
  return backends;
}

std::string api_version(const PluginCandidate& candidate) {
  if (!candidate.tried || !candidate.error.empty()) return "";
  const auto plugin = pjrt::Plugin::load(candidate.path);
  return fmt::format("{}.{}", plugin->major_version(), plugin->minor_version());
}

std::string gibibytes(std::int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0));
}

void print_table(const std::vector<Backend>& backends) {
  fmt::print("Plugins\n");
  for (const PluginCandidate& candidate : plugin_candidates()) {
    const std::string state = !candidate.tried          ? "not tried"
                              : candidate.error.empty() ? "API " + api_version(candidate)
                                                        : "failed: " + candidate.error;
    fmt::print("  {:<4} {}\n       found by {}; {}\n",
               candidate.accelerator.empty() ? "?" : candidate.accelerator, candidate.path,
               candidate.found_by, state);
  }
  fmt::print("Devices\n");
  for (const Backend& backend : backends) {
    if (!backend.error.empty()) fmt::print("  {:<8} {}\n", backend.accelerator, backend.error);
    for (const Device& device : backend.devices) {
      const auto memory = device.memory_stats();
      fmt::print("  {:<8} {:<24} process {}{}{}\n", device.to_string(), device.kind(),
                 device.process_index(), device.is_addressable() ? "" : ", not addressable",
                 memory && memory->bytes_limit ? ", " + gibibytes(*memory->bytes_limit) : "");
    }
  }
}

Json to_json(const std::vector<Backend>& backends) {
  Json result{{"plugins", Json::array()}, {"devices", Json::array()}, {"errors", Json::object()}};
  for (const PluginCandidate& candidate : plugin_candidates()) {
    const std::string version = api_version(candidate);
    result["plugins"].push_back(
        {{"accelerator", candidate.accelerator},
         {"path", candidate.path},
         {"found_by", candidate.found_by},
         {"api_version", version.empty() ? Json() : Json(version)},
         {"error", candidate.error.empty() ? Json() : Json(candidate.error)}});
  }
  for (const Backend& backend : backends) {
    if (!backend.error.empty()) result["errors"][backend.accelerator] = backend.error;
    for (const Device& device : backend.devices) {
      const auto memory = device.memory_stats();
      Json limit;
      if (memory && memory->bytes_limit) limit = *memory->bytes_limit;
      result["devices"].push_back({{"name", device.to_string()},
                                   {"id", device.id()},
                                   {"kind", device.kind()},
                                   {"platform", device.platform()},
                                   {"platform_name", device.platform_name()},
                                   {"process_index", device.process_index()},
                                   {"addressable", device.is_addressable()},
                                   {"memory_bytes", limit}});
    }
  }
  return result;
}

int run_devices(const DevicesOptions& options) {
  std::vector<Backend> backends;
  if (options.accelerator.empty()) {
    backends = start_visible_backends();
  } else {
    // An explicit request that cannot be met is an error, not a line in a table.
    backends.push_back({options.accelerator, devices(options.accelerator), {}});
  }
  if (options.json) {
    fmt::print("{}\n", to_json(backends).dump());
  } else {
    print_table(backends);
  }
  return exit_done;
}

}  // namespace

std::function<int()> add_devices_command(CLI::App& app) {
  auto options = std::make_shared<DevicesOptions>();
  CLI::App* command =
      app.add_subcommand("devices", "List the plugins found and the devices they show");
  command->add_option("--accelerator", options->accelerator,
                      "auto, cpu, gpu or tpu; without it every backend that a plugin may serve");
  command->add_flag("--json", options->json, "Print one JSON object on one line");
  return [options] { return run_devices(*options); };
}

}  // namespace lockstep::cli
