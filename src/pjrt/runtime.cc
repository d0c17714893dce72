#include "lockstep/pjrt/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "pjrt/device_description.h"
#include "pjrt/discovery.h"
#include "pjrt/plugin_trial.h"
#include "pjrt/xla_flags.h"

namespace lockstep {
namespace {

using pjrt::Client;
using pjrt::Plugin;

constexpr const char* where = "devices";
constexpr const char* no_devices = "it shows no devices";

std::string install_command(const std::string& accelerator) {
  if (accelerator == "tpu") return "`pip install libtpu`";
  if (accelerator == "gpu") {
    return "`pip install jax-cuda13-pjrt` (NVIDIA), `pip install jax-rocm7-pjrt` (AMD) or "
           "`pip install jax-oneapi-pjrt` (Intel)";
  }
  return "`make setup`";
}

std::string described(const PluginCandidate& candidate) {
  return fmt::format("'{}' ({})", candidate.path, candidate.found_by);
}

// libtpu waits long for the hardware it is made for, so "auto" looks for it first.
bool has_tpu_hardware() {
  constexpr std::string_view google = "0x1ae0";
  std::error_code error;
  for (const auto& device : std::filesystem::directory_iterator("/sys/bus/pci/devices", error)) {
    std::ifstream file(device.path() / "vendor");
    std::string vendor;
    if (file >> vendor && vendor == google) return true;
  }
  return false;
}

// What the process knows of its plugins and the client of each backend. The one object of its kind.
class Runtime {
 public:
  const std::vector<Device>& devices(const std::string& accelerator);
  void set_cpu_device_count(std::int64_t count);
  bool backends_started();
  std::int64_t process_index();
  std::int64_t process_count();
  std::vector<PluginCandidate> candidates();

 private:
  static bool serves(const PluginCandidate& candidate, const std::string& accelerator) {
    return candidate.accelerator == accelerator || candidate.accelerator.empty();
  }
  void discover();
  bool start(const std::string& accelerator);
  const std::string& start_best();
  void try_candidate(PluginCandidate& candidate);
  std::unique_ptr<Client> create_client(const PluginCandidate& candidate);
  std::int64_t cpu_device_count() const;
  void warn_of_failures(const std::string& accelerator);
  [[noreturn]] void throw_unavailable(const std::string& accelerator) const;

  std::mutex mutex_;
  bool discovered_ = false;
  std::vector<PluginCandidate> candidates_;
  std::map<std::string, std::unique_ptr<Client>> clients_;  // by accelerator
  std::string best_;                                        // what "auto" came to
  std::optional<std::int64_t> cpu_device_count_;
  std::set<std::string> warned_of_;
};

// Leaked on purpose: devices, and the threads of runtimes, outlive static objects.
Runtime& runtime() {
  static Runtime& instance = *std::make_unique<Runtime>().release();
  return instance;
}

const std::vector<Device>& Runtime::devices(const std::string& accelerator) {
  constexpr std::array<std::string_view, 4> accepted{"auto", "cpu", "gpu", "tpu"};
  if (std::find(accepted.begin(), accepted.end(), accelerator) == accepted.end()) {
    throw_value_error(
        where,
        fmt::format("accelerator '{}' is unknown; expected auto, cpu, gpu or tpu", accelerator));
  }
  const std::lock_guard lock(mutex_);
  const std::string& wanted = accelerator == "auto" ? start_best() : accelerator;
  if (!start(wanted)) throw_unavailable(wanted);
  return clients_.at(wanted)->devices();
}

void Runtime::discover() {
  if (discovered_) return;
  candidates_ = pjrt::discover_plugins();
  discovered_ = true;
}

// Tries candidates until one serves; whether one does.
bool Runtime::start(const std::string& accelerator) {
  if (clients_.contains(accelerator)) return true;
  discover();
  for (PluginCandidate& candidate : candidates_) {
    if (candidate.tried || !serves(candidate, accelerator)) continue;
    try_candidate(candidate);
    if (clients_.contains(accelerator)) {
      warn_of_failures(accelerator);
      return true;
    }
  }
  return false;
}

const std::string& Runtime::start_best() {
  if (!best_.empty()) return best_;
  discover();
  for (const char* accelerator : {"tpu", "gpu"}) {
    const bool is_present = std::string_view(accelerator) != "tpu" || has_tpu_hardware() ||
                            environment_variable("TPU_LIBRARY_PATH").has_value();
    if (is_present && start(accelerator)) return best_ = accelerator;
  }
  if (!start("cpu")) throw_unavailable("cpu");
  warn_of_failures("tpu");
  warn_of_failures("gpu");
  return best_ = "cpu";
}

void Runtime::try_candidate(PluginCandidate& candidate) {
  candidate.tried = true;
  try {
    std::unique_ptr<Client> client = create_client(candidate);
    candidate.accelerator = pjrt::platform_of(client->platform_name());
    if (client->devices().empty()) {
      candidate.error = no_devices;
    } else if (!clients_.try_emplace(candidate.accelerator, std::move(client)).second) {
      candidate.error =
          fmt::format("it serves `{}`, as another plugin does already", candidate.accelerator);
    }
  } catch (const RuntimeError& error) {
    candidate.error = error.what();
  } catch (const ValueError&) {
    candidate.tried = false;  // the settings are at fault, and may be set right
    throw;
  }
  if (candidate.error.empty()) log_debug(fmt::format("using the plugin {}", described(candidate)));
}

std::unique_ptr<Client> Runtime::create_client(const PluginCandidate& candidate) {
  pjrt::check_xla_flags(candidate.path);
  if (!pjrt::is_from_setup(candidate)) {
    if (const std::optional<std::string> death = pjrt::trial_load(candidate.path)) {
      throw_runtime_error("Plugin::load",
                          fmt::format("'{}' cannot be loaded: {}", candidate.path, *death));
    }
  }
  std::shared_ptr<Plugin> plugin = Plugin::load(candidate.path);
  const pjrt::ClientOptions cpu_options{
      .create_options = {{"cpu_device_count", cpu_device_count()}}};
  if (candidate.accelerator == "cpu") return Client::create(std::move(plugin), cpu_options);
  std::unique_ptr<Client> client = Client::create(plugin);
  // A plugin whose name does not tell may turn out to be a CPU's, which takes the count.
  if (pjrt::platform_of(client->platform_name()) == "cpu") {
    client.reset();
    client = Client::create(std::move(plugin), cpu_options);
  }
  return client;
}

std::int64_t Runtime::cpu_device_count() const {
  if (cpu_device_count_) return *cpu_device_count_;
  const auto variable = environment_variable("LOCKSTEP_CPU_DEVICES");
  if (variable && !variable->empty()) {
    return pjrt::parse_device_count("LOCKSTEP_CPU_DEVICES", *variable);
  }
  return pjrt::xla_host_device_count().value_or(1);
}

void Runtime::warn_of_failures(const std::string& accelerator) {
  for (const PluginCandidate& candidate : candidates_) {
    if (candidate.error.empty() || !serves(candidate, accelerator)) continue;
    if (!warned_of_.insert(candidate.path).second) continue;
    const auto used = std::find_if(candidates_.begin(), candidates_.end(), [](const auto& other) {
      return other.tried && other.error.empty();
    });
    log_warning(fmt::format("the plugin {} cannot be used: {}; using {} on `{}` instead",
                            described(candidate), candidate.error, described(*used),
                            used->accelerator));
  }
}

void Runtime::throw_unavailable(const std::string& accelerator) const {
  std::string tried;
  bool all_without_devices = true;
  for (const PluginCandidate& candidate : candidates_) {
    if (candidate.error.empty() || !serves(candidate, accelerator)) continue;
    tried += fmt::format("\n  {}: {}", described(candidate), candidate.error);
    if (candidate.error != no_devices) all_without_devices = false;
  }
  if (tried.empty()) {
    throw_runtime_error(where,
                        fmt::format("the `{}` backend cannot be loaded: no plugin for it was "
                                    "found. Install one by {}, or name its file in "
                                    "LOCKSTEP_PJRT_PLUGIN_PATH",
                                    accelerator, install_command(accelerator)));
  }
  if (all_without_devices) {
    throw_runtime_error(where,
                        fmt::format("no `{}` devices are visible; tried:{}", accelerator, tried));
  }
  throw_runtime_error(where, fmt::format("the `{}` backend cannot be loaded; tried:{}\nInstall a "
                                         "working plugin by {}, or name its file in "
                                         "LOCKSTEP_PJRT_PLUGIN_PATH",
                                         accelerator, tried, install_command(accelerator)));
}

void Runtime::set_cpu_device_count(std::int64_t count) {
  if (count < 1) {
    throw_value_error(
        "set_cpu_device_count",
        fmt::format("{} CPU devices were asked for; expected a positive number", count));
  }
  const std::lock_guard lock(mutex_);
  if (const auto client = clients_.find("cpu"); client != clients_.end()) {
    throw_runtime_error(
        "set_cpu_device_count",
        fmt::format("the runtime has already started with {} CPU devices; set their "
                    "number before the first use of devices()",
                    client->second->devices().size()));
  }
  cpu_device_count_ = count;
}

bool Runtime::backends_started() {
  const std::lock_guard lock(mutex_);
  return !clients_.empty();
}

std::int64_t Runtime::process_index() {
  const std::lock_guard lock(mutex_);
  return clients_.empty() ? 0 : clients_.begin()->second->process_index();
}

std::int64_t Runtime::process_count() {
  const std::lock_guard lock(mutex_);
  std::int64_t count = 1;
  for (const auto& [accelerator, client] : clients_) {
    for (const Device& device : client->devices()) {
      count = std::max(count, device.process_index() + 1);
    }
  }
  return count;
}

std::vector<PluginCandidate> Runtime::candidates() {
  const std::lock_guard lock(mutex_);
  discover();
  return candidates_;
}

}  // namespace

void set_cpu_device_count(std::int64_t count) {
  runtime().set_cpu_device_count(count);
}

const std::vector<Device>& devices(const std::string& accelerator) {
  return runtime().devices(accelerator);
}

Device default_device() {
  const std::vector<Device>& all = devices("auto");
  const auto found =
      std::find_if(all.begin(), all.end(), [](const Device& d) { return d.is_addressable(); });
  if (found == all.end()) {
    throw_runtime_error("default_device", "this process owns none of the visible devices");
  }
  return *found;
}

std::int64_t process_index() {
  return runtime().process_index();
}
std::int64_t process_count() {
  return runtime().process_count();
}
bool backends_started() {
  return runtime().backends_started();
}
std::vector<PluginCandidate> plugin_candidates() {
  return runtime().candidates();
}

}  // namespace lockstep
