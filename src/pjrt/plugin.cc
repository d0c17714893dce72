#include "lockstep/pjrt/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "pjrt/api_call.h"
#include "pjrt/named_values.h"
#include "pjrt/xla_flags.h"

namespace lockstep::pjrt {
namespace {

constexpr const char* where = "Plugin::load";

// Plugins stay loaded for the life of the process, so what is known of them does too; leaked on
// purpose, because runtimes' threads may outlive static destructors.
struct LoadedPlugins {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Plugin>> by_path;
};

LoadedPlugins& loaded_plugins() {
  static LoadedPlugins& instance = *std::make_unique<LoadedPlugins>().release();
  return instance;
}

// The runtimes log every detail to standard error unless told otherwise before they are loaded.
void quiet_runtime_logs() {
  if (environment_variable("TF_CPP_MIN_LOG_LEVEL")) return;
  if (environment_variable("LOCKSTEP_LOG_LEVEL") == "debug") return;
  ::setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);
}

std::string loader_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "the loader gives no reason" : text;
}

const PJRT_Api* open_library(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw_runtime_error(where, fmt::format("'{}' cannot be loaded: {}", path, loader_error()));
  }
  using GetApi = const PJRT_Api*();
  auto* get_api = reinterpret_cast<GetApi*>(::dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    throw_runtime_error(
        where, fmt::format("'{}' is no PJRT plugin: it has no symbol GetPjrtApi ({})", path,
                           loader_error()));
  }
  const PJRT_Api* api = get_api();
  if (api == nullptr) {
    throw_runtime_error(where, fmt::format("'{}': its GetPjrtApi gave nothing", path));
  }
  return api;
}

void check_version(const std::string& path, const PJRT_Api* api) {
  constexpr std::size_t version_end =
      offsetof(PJRT_Api, pjrt_api_version) + sizeof(PJRT_Api_Version);
  if (api->struct_size < version_end) {
    throw_runtime_error(where, fmt::format("'{}': its API table has {} bytes, too few to hold a "
                                           "version ({} bytes)",
                                           path, api->struct_size, version_end));
  }
  if (api->pjrt_api_version.major_version != PJRT_API_MAJOR) {
    throw_runtime_error(
        where, fmt::format("'{}' has PJRT API {}.{}, but major version {} is needed; install a "
                           "plugin of a release that has it",
                           path, api->pjrt_api_version.major_version,
                           api->pjrt_api_version.minor_version, PJRT_API_MAJOR));
  }
}

void initialize(const std::string& path, const PJRT_Api* api) {
  auto call = LOCKSTEP_PJRT_CALL(api, PJRT_Plugin_Initialize);
  if (const std::optional<ApiError> error = call.try_run()) {
    throw_runtime_error(
        where, fmt::format("'{}': PJRT_Plugin_Initialize failed: {}", path, error->message));
  }
}

NamedValues read_attributes(const PJRT_Api* api) {
  auto call = LOCKSTEP_PJRT_CALL(api, PJRT_Plugin_Attributes);
  if (call.try_run()) return {};
  return from_api(call->attributes, call->num_attributes);
}

}  // namespace

std::shared_ptr<Plugin> Plugin::load(const std::string& path) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  if (error) {
    throw_runtime_error(where, fmt::format("'{}' cannot be loaded: {}", path, error.message()));
  }
  LoadedPlugins& plugins = loaded_plugins();
  const std::lock_guard lock(plugins.mutex);
  std::shared_ptr<Plugin>& plugin = plugins.by_path[canonical.string()];
  if (plugin == nullptr) {
    check_xla_flags(canonical.string());
    quiet_runtime_logs();
    const PJRT_Api* api = open_library(canonical.string());
    check_version(canonical.string(), api);
    initialize(canonical.string(), api);
    plugin = std::shared_ptr<Plugin>(new Plugin(canonical.string(), api));
  }
  return plugin;
}

Plugin::Plugin(std::string path, const PJRT_Api* api)
    : path_(std::move(path)), api_(api), attributes_(read_attributes(api)) {}

int Plugin::major_version() const {
  return api_->pjrt_api_version.major_version;
}
int Plugin::minor_version() const {
  return api_->pjrt_api_version.minor_version;
}

const void* Plugin::extension(int type) const {
  for (const PJRT_Extension_Base* entry = api_->extension_start; entry != nullptr;
       entry = entry->next) {
    if (static_cast<int>(entry->type) == type) return entry;
  }
  return nullptr;
}

}  // namespace lockstep::pjrt
