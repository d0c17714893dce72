#include "lockstep/pjrt/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "lockstep/base/error.h"
#include "pjrt/api_call.h"
#include "pjrt/device_description.h"
#include "pjrt/host_memory_pool.h"
#include "pjrt/key_value_callbacks.h"
#include "pjrt/named_values.h"

namespace lockstep::pjrt {
namespace {

// Host memory kept for the next copy of the same size.
constexpr std::size_t max_kept_host_memory = std::size_t{256} << 20;

PJRT_DeviceDescription* description_of(const PJRT_Api* api, PJRT_Device* device) {
  auto call = LOCKSTEP_PJRT_CALL(api, PJRT_Device_GetDescription);
  call->device = device;
  call.run();
  return call->device_description;
}

std::unique_ptr<DeviceDescription> describe(Client& client, PJRT_Device* device) {
  const PJRT_Api* api = client.api();
  PJRT_DeviceDescription* description = description_of(api, device);
  auto id = LOCKSTEP_PJRT_CALL(api, PJRT_DeviceDescription_Id);
  id->device_description = description;
  id.run();
  auto process = LOCKSTEP_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex);
  process->device_description = description;
  process.run();
  auto kind = LOCKSTEP_PJRT_CALL(api, PJRT_DeviceDescription_Kind);
  kind->device_description = description;
  kind.run();
  auto addressable = LOCKSTEP_PJRT_CALL(api, PJRT_Device_IsAddressable);
  addressable->device = device;
  addressable.run();
  auto hardware = LOCKSTEP_PJRT_CALL(api, PJRT_Device_LocalHardwareId);
  hardware->device = device;
  const bool has_hardware_id = addressable->is_addressable && !hardware.try_run();

  auto result = std::make_unique<DeviceDescription>();
  result->client = &client;
  result->handle = device;
  result->id = id->id;
  result->process_index = process->process_index;
  result->local_hardware_id = has_hardware_id ? hardware->local_hardware_id : -1;
  result->addressable = addressable->is_addressable;
  result->kind.assign(kind->device_kind, kind->device_kind_size);
  result->platform_name = client.platform_name();
  result->platform = platform_of(client.platform_name());
  return result;
}

}  // namespace

std::unique_ptr<Client> Client::create(std::shared_ptr<Plugin> plugin,
                                       const ClientOptions& options) {
  const PJRT_Api* api = plugin->api();
  const std::vector<PJRT_NamedValue> create_options = to_api(options.create_options);
  std::unique_ptr<KeyValueStore> store;
  auto call = LOCKSTEP_PJRT_CALL(api, PJRT_Client_Create);
  call->create_options = create_options.data();
  call->num_options = create_options.size();
  if (options.key_value_store) {
    store = std::make_unique<KeyValueStore>(*options.key_value_store);
    set_key_value_callbacks(*call.operator->(), *store);
  }
  if (const std::optional<ApiError> error = call.try_run()) {
    throw_runtime_error("PJRT_Client_Create", fmt::format("the plugin '{}' cannot start: {}",
                                                          plugin->path(), error->message));
  }
  // The constructor only takes the handle over, so that a failure while it is described destroys
  // it.
  std::unique_ptr<Client> client(new Client(std::move(plugin), call->client, std::move(store)));
  client->describe_platform();
  client->describe_devices();
  return client;
}

Client::Client(std::shared_ptr<Plugin> plugin, PJRT_Client* client,
               std::unique_ptr<KeyValueStore> store)
    : plugin_(std::move(plugin)),
      client_(client),
      key_value_store_(std::move(store)),
      host_memory_(std::make_shared<HostMemoryPool>(max_kept_host_memory)) {}

Client::~Client() {
  auto call = LOCKSTEP_PJRT_CALL(api(), PJRT_Client_Destroy);
  call->client = client_;
  std::ignore = call.try_run();
}

void Client::describe_platform() {
  auto name = LOCKSTEP_PJRT_CALL(api(), PJRT_Client_PlatformName);
  name->client = client_;
  name.run();
  platform_name_.assign(name->platform_name, name->platform_name_size);
  auto version = LOCKSTEP_PJRT_CALL(api(), PJRT_Client_PlatformVersion);
  version->client = client_;
  if (!version.try_run()) {
    platform_version_.assign(version->platform_version, version->platform_version_size);
  }
  auto process = LOCKSTEP_PJRT_CALL(api(), PJRT_Client_ProcessIndex);
  process->client = client_;
  process.run();
  process_index_ = process->process_index;
}

void Client::describe_devices() {
  auto call = LOCKSTEP_PJRT_CALL(api(), PJRT_Client_Devices);
  call->client = client_;
  call.run();
  for (std::size_t i = 0; i < call->num_devices; ++i) {
    descriptions_.push_back(describe(*this, call->devices[i]));
  }
  std::sort(descriptions_.begin(), descriptions_.end(), [](const auto& a, const auto& b) {
    return std::tie(a->process_index, a->id) < std::tie(b->process_index, b->id);
  });
  for (const auto& description : descriptions_) {
    const Device& device = devices_.emplace_back(description.get());
    if (description->addressable) addressable_devices_.push_back(device);
  }
}

Device Client::device(PJRT_Device* handle) const {
  for (const auto& description : descriptions_) {
    if (description->handle == handle) return Device(description.get());
  }
  throw_runtime_error("Client::device",
                      "the runtime named a device that was not there when the client was made");
}

std::shared_ptr<LoadedExecutable> Client::compile(std::string_view mlir_module,
                                                  const CompileOptions& options) {
  const std::string serialized_options = options.serialize();
  constexpr std::string_view format = "mlir";
  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  program.code = const_cast<char*>(mlir_module.data());  // NOLINT: only read
  program.code_size = mlir_module.size();
  program.format = format.data();
  program.format_size = format.size();
  auto call = LOCKSTEP_PJRT_CALL(api(), PJRT_Client_Compile);
  call->client = client_;
  call->program = &program;
  call->compile_options = serialized_options.data();
  call->compile_options_size = serialized_options.size();
  call.run();
  return std::make_shared<LoadedExecutable>(*this, call->executable);
}

std::shared_ptr<LoadedExecutable> Client::deserialize(std::string_view serialized,
                                                      const CompileOptions& options) {
  const std::string serialized_options = options.serialize();
  auto call = LOCKSTEP_PJRT_CALL(api(), PJRT_Executable_DeserializeAndLoad);
  call->client = client_;
  call->serialized_executable = serialized.data();
  call->serialized_executable_size = serialized.size();
  call->overridden_serialized_compile_options = serialized_options.data();
  call->overridden_serialized_compile_options_size = serialized_options.size();
  call.run();
  return std::make_shared<LoadedExecutable>(*this, call->loaded_executable);
}

}  // namespace lockstep::pjrt
