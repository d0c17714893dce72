#include "lockstep/pjrt/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"
#include "pjrt/named_values.h"

namespace lockstep::pjrt {
namespace {

TopologyDevice describe(const PJRT_Api* api, PJRT_DeviceDescription* description) {
  TopologyDevice device;
  auto id = LOCKSTEP_PJRT_CALL(api, PJRT_DeviceDescription_Id);
  id->device_description = description;
  id.run();
  device.id = id->id;
  auto process = LOCKSTEP_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex);
  process->device_description = description;
  process.run();
  device.process_index = process->process_index;
  auto kind = LOCKSTEP_PJRT_CALL(api, PJRT_DeviceDescription_Kind);
  kind->device_description = description;
  kind.run();
  device.kind.assign(kind->device_kind, kind->device_kind_size);
  auto text = LOCKSTEP_PJRT_CALL(api, PJRT_DeviceDescription_ToString);
  text->device_description = description;
  if (!text.try_run()) device.description.assign(text->to_string, text->to_string_size);
  auto attributes = LOCKSTEP_PJRT_CALL(api, PJRT_DeviceDescription_Attributes);
  attributes->device_description = description;
  if (!attributes.try_run()) {
    device.attributes = from_api(attributes->attributes, attributes->num_attributes);
  }
  return device;
}

}  // namespace

Topology Topology::of(const Client& client) {
  auto call = LOCKSTEP_PJRT_CALL(client.api(), PJRT_Client_TopologyDescription);
  call->client = client.handle();
  call.run();
  Topology topology(nullptr, client.api(), call->topology);
  topology.describe_devices();
  return topology;
}

Topology Topology::create(std::shared_ptr<Plugin> plugin, const std::string& name,
                          const NamedValues& options) {
  const PJRT_Api* api = plugin->api();
  const std::vector<PJRT_NamedValue> create_options = to_api(options);
  auto call = LOCKSTEP_PJRT_CALL(api, PJRT_TopologyDescription_Create);
  call->topology_name = name.data();
  call->topology_name_size = name.size();
  call->create_options = create_options.data();
  call->num_options = create_options.size();
  if (const std::optional<ApiError> error = call.try_run()) {
    throw_runtime_error("PJRT_TopologyDescription_Create",
                        fmt::format("the plugin '{}' gives no topology '{}': {}", plugin->path(),
                                    name, error->message));
  }
  Topology topology(std::move(plugin), api, call->topology);
  topology.describe_devices();
  return topology;
}

Topology::Topology(std::shared_ptr<Plugin> plugin, const PJRT_Api* api,
                   PJRT_TopologyDescription* topology)
    : plugin_(std::move(plugin)), api_(api), topology_(topology) {}

Topology::Topology(Topology&& other) noexcept
    : plugin_(std::move(other.plugin_)),
      api_(other.api_),
      topology_(std::exchange(other.topology_, nullptr)),
      devices_(std::move(other.devices_)) {}

Topology& Topology::operator=(Topology&& other) noexcept {
  std::swap(plugin_, other.plugin_);
  std::swap(api_, other.api_);
  std::swap(topology_, other.topology_);
  std::swap(devices_, other.devices_);
  return *this;
}

Topology::~Topology() {
  if (topology_ == nullptr || plugin_ == nullptr) return;
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_TopologyDescription_Destroy);
  call->topology = topology_;
  std::ignore = call.try_run();
}

void Topology::describe_devices() {
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_TopologyDescription_GetDeviceDescriptions);
  call->topology = topology_;
  call.run();
  for (std::size_t i = 0; i < call->num_descriptions; ++i) {
    devices_.push_back(describe(api_, call->descriptions[i]));
  }
  std::sort(devices_.begin(), devices_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.process_index, a.id) < std::tie(b.process_index, b.id);
  });
}

std::string Topology::platform_name() const {
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_TopologyDescription_PlatformName);
  call->topology = topology_;
  call.run();
  return {call->platform_name, call->platform_name_size};
}

std::string Topology::platform_version() const {
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_TopologyDescription_PlatformVersion);
  call->topology = topology_;
  if (call.try_run()) return {};
  return {call->platform_version, call->platform_version_size};
}

NamedValues Topology::attributes() const {
  auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_TopologyDescription_Attributes);
  call->topology = topology_;
  if (call.try_run()) return {};
  return from_api(call->attributes, call->num_attributes);
}

}  // namespace lockstep::pjrt
