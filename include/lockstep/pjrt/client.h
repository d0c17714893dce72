#pragma once
/// Clients: a plugin's runtime with its devices.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/pjrt/buffer.h"
#include "lockstep/pjrt/device.h"
#include "lockstep/pjrt/executable.h"
#include "lockstep/pjrt/plugin.h"

struct PJRT_Client;

namespace lockstep::pjrt {

class HostMemoryPool;

/// The key-value store of a multi-process job, for plugins that run their own (GPU, TPU).
/// Callbacks throw RuntimeError on failure.
struct KeyValueStore {
  std::function<void(const std::string& key, const std::string& value)> put;
  std::function<std::string(const std::string& key, std::int64_t timeout_ms)> get;
  std::function<std::optional<std::string>(const std::string& key)> try_get;
};

/// What a client is made with.
struct ClientOptions {
  NamedValues create_options = {};  ///< e.g. {"cpu_device_count", std::int64_t{4}}
  std::optional<KeyValueStore> key_value_store = {};
};

/// Where the bytes of a host buffer are and how long they stay.
struct HostBuffer {
  const void* data = nullptr;
  int element_type = 0;  ///< a PJRT_Buffer_Type
  std::span<const std::int64_t> dimensions = {};
  std::span<const std::int64_t> byte_strides = {};  ///< empty: row-major
};

/// Owns a PJRT_Client and describes its devices.
class Client {
 public:
  /// RuntimeError with the plugin's path and its own text where it cannot be made.
  [[nodiscard]] static std::unique_ptr<Client> create(std::shared_ptr<Plugin> plugin,
                                                      const ClientOptions& options = {});
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  [[nodiscard]] PJRT_Client* handle() const { return client_; }
  [[nodiscard]] const PJRT_Api* api() const { return plugin_->api(); }
  [[nodiscard]] const Plugin& plugin() const { return *plugin_; }
  [[nodiscard]] const std::string& platform_name() const { return platform_name_; }
  [[nodiscard]] const std::string& platform_version() const { return platform_version_; }
  [[nodiscard]] std::int64_t process_index() const { return process_index_; }
  /// All devices by process index, then id; and those of this process.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<Device>& addressable_devices() const {
    return addressable_devices_;
  }
  /// The device behind a handle of this client; RuntimeError for another one.
  [[nodiscard]] Device device(PJRT_Device* handle) const;

  /// Compiles an MLIR module (text or bytecode) for this client's devices.
  [[nodiscard]] std::shared_ptr<LoadedExecutable> compile(std::string_view mlir_module,
                                                          const CompileOptions& options);
  /// Loads what LoadedExecutable::serialize gave.
  [[nodiscard]] std::shared_ptr<LoadedExecutable> deserialize(std::string_view serialized,
                                                              const CompileOptions& options);

  /// Copies host memory to a device; the memory is free again when this returns.
  [[nodiscard]] std::shared_ptr<Buffer> buffer_from_host(const HostBuffer& host,
                                                         const Device& device);
  /// Uses host memory as the device buffer where the device can (CPU; 64-byte aligned, row-major),
  /// else copies. `keep_alive` is held until the runtime no longer needs the memory, and the memory
  /// must not change until then.
  [[nodiscard]] std::shared_ptr<Buffer> buffer_from_host_zero_copy(
      const HostBuffer& host, const Device& device, std::shared_ptr<const void> keep_alive);

  /// Registers an XLA FFI handler (an XLA_FFI_Handler*) under `target` for "Host" or another
  /// platform; RuntimeError where the plugin has no FFI extension.
  void register_ffi_handler(const std::string& target, void* handler,
                            const std::string& platform = "Host");

 private:
  Client(std::shared_ptr<Plugin> plugin, PJRT_Client* client, std::unique_ptr<KeyValueStore> store);
  void describe_platform();
  void describe_devices();

  std::shared_ptr<Plugin> plugin_;
  PJRT_Client* client_;
  std::unique_ptr<KeyValueStore> key_value_store_;  // the runtime's callbacks point to it
  std::shared_ptr<HostMemoryPool> host_memory_;
  std::string platform_name_;
  std::string platform_version_;
  std::int64_t process_index_ = 0;
  std::vector<std::unique_ptr<DeviceDescription>> descriptions_;
  std::vector<Device> devices_;
  std::vector<Device> addressable_devices_;
};

}  // namespace lockstep::pjrt
