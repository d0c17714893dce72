// A small PJRT plugin with two devices in host memory. Each fault that tests need is one compile
// definition, so that every broken plugin is a library of its own (see CMakeLists.txt).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "xla/pjrt/c/pjrt_c_api.h"

#ifndef STUB_PLATFORM
#define STUB_PLATFORM "cuda"
#endif

struct PJRT_Event {};
struct PJRT_DeviceDescription {
  int id;
};
struct PJRT_Device {
  PJRT_DeviceDescription description;
};
struct PJRT_Client {
  std::string platform_version;
  PJRT_Device devices[2] = {{{1}}, {{0}}};  // not in the order of their ids
  PJRT_Device* device_list[2] = {&devices[0], &devices[1]};
};
struct PJRT_Buffer {
  PJRT_Buffer_Type type;
  std::vector<std::int64_t> dimensions;
  std::string bytes;
  PJRT_Device* device;
};

namespace {

struct StubError {
  PJRT_Error base;
  PJRT_Error_Code code;
  std::string text;
};

std::string& calls() {
  static std::string text;
  return text;
}

void record(std::string_view name) {
  calls() += name;
  calls() += '\n';
}

PJRT_Error* make_error(PJRT_Error_Code code, const char* text, std::size_t size) {
  auto* error = new StubError{{nullptr}, code, std::string(text, size)};
  return &error->base;
}

PJRT_Error* make_error(PJRT_Error_Code code, std::string_view text) {
  return make_error(code, text.data(), text.size());
}

StubError* stub_error(const PJRT_Error* error) {
  return reinterpret_cast<StubError*>(const_cast<PJRT_Error*>(error));
}

void error_destroy(PJRT_Error_Destroy_Args* args) {
  delete stub_error(args->error);
}
void error_message(PJRT_Error_Message_Args* args) {
  args->message = stub_error(args->error)->text.data();
  args->message_size = stub_error(args->error)->text.size();
}
PJRT_Error* error_code(PJRT_Error_GetCode_Args* args) {
  args->code = stub_error(args->error)->code;
  return nullptr;
}

PJRT_Error* initialize(PJRT_Plugin_Initialize_Args*) {
  record("PJRT_Plugin_Initialize");
#ifdef STUB_INITIALIZE_FAILS
  return make_error(PJRT_Error_Code_INTERNAL, "the stub's driver is too old");
#else
  return nullptr;
#endif
}

[[maybe_unused]] PJRT_Error* attributes(PJRT_Plugin_Attributes_Args* args) {
  record("PJRT_Plugin_Attributes");
#ifdef STUB_ATTRIBUTES_UNIMPLEMENTED
  args->num_attributes = 12345;  // what a failed call leaves behind must not be read
  return make_error(PJRT_Error_Code_UNIMPLEMENTED, "no attributes here");
#else
  static const std::int64_t version[3] = {1, 2, 3};
  static PJRT_NamedValue values[5] = {};
  const auto set = [](PJRT_NamedValue& value, const char* name, PJRT_NamedValue_Type type) {
    value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value.name = name;
    value.name_size = std::strlen(name);
    value.type = type;
    value.value_size = 1;
  };
  set(values[0], "text", PJRT_NamedValue_kString);
  values[0].string_value = "stub";
  values[0].value_size = 4;
  set(values[1], "number", PJRT_NamedValue_kInt64);
  values[1].int64_value = 7;
  set(values[2], "version", PJRT_NamedValue_kInt64List);
  values[2].int64_array_value = version;
  values[2].value_size = 3;
  set(values[3], "fraction", PJRT_NamedValue_kFloat);
  values[3].float_value = 0.5F;
  set(values[4], "flag", PJRT_NamedValue_kBool);
  values[4].bool_value = true;
  args->attributes = values;
  args->num_attributes = 5;
  return nullptr;
#endif
}

PJRT_Error* event_destroy(PJRT_Event_Destroy_Args* args) {
  delete args->event;
  return nullptr;
}
PJRT_Error* event_is_ready(PJRT_Event_IsReady_Args* args) {
  args->is_ready = true;
  return nullptr;
}
PJRT_Error* event_await(PJRT_Event_Await_Args*) {
  return nullptr;
}
PJRT_Error* event_on_ready(PJRT_Event_OnReady_Args* args) {
  args->callback(nullptr, args->user_arg);
  return nullptr;
}

// Uses a key-value store as a multi-process plugin does: puts, gets, asks for what is not there.
[[maybe_unused]] PJRT_Error* use_key_value_store(const PJRT_Client_Create_Args& args,
                                                 std::string& result) {
  PJRT_CallbackError callback_error = make_error;
  PJRT_KeyValuePutCallback_Args put{};
  put.struct_size = PJRT_KeyValuePutCallback_Args_STRUCT_SIZE;
  put.key = "key";
  put.key_size = 3;
  put.value = "value";
  put.value_size = 5;
  put.callback_error = &callback_error;
  put.user_arg = args.kv_put_user_arg;
  if (PJRT_Error* error = args.kv_put_callback(&put)) return error;
  PJRT_KeyValueGetCallback_Args get{};
  get.struct_size = PJRT_KeyValueGetCallback_Args_STRUCT_SIZE;
  get.key = "key";
  get.key_size = 3;
  get.timeout_in_ms = 250;
  get.callback_error = &callback_error;
  get.user_arg = args.kv_get_user_arg;
  if (PJRT_Error* error = args.kv_get_callback(&get)) return error;
  result = "got " + std::string(get.value, get.value_size);
  get.value_deleter_callback(get.value);
  PJRT_KeyValueTryGetCallback_Args try_get{};
  try_get.struct_size = PJRT_KeyValueTryGetCallback_Args_STRUCT_SIZE;
  try_get.key = "absent";
  try_get.key_size = 6;
  try_get.callback_error = &callback_error;
  try_get.user_arg = args.kv_try_get_user_arg;
  PJRT_Error* error = args.kv_try_get_callback(&try_get);
  if (error == nullptr) return make_error(PJRT_Error_Code_INTERNAL, "an absent key was found");
  result += stub_error(error)->code == PJRT_Error_Code_NOT_FOUND ? ", absent" : ", other error";
  delete stub_error(error);
  return nullptr;
}

PJRT_Error* client_create([[maybe_unused]] PJRT_Client_Create_Args* args) {
  record("PJRT_Client_Create");
#ifdef STUB_CREATE_FAILS
  return make_error(PJRT_Error_Code_FAILED_PRECONDITION, "the stub finds no driver");
#else
  auto* client = new PJRT_Client;
  if (args->kv_put_callback != nullptr) {
    if (PJRT_Error* error = use_key_value_store(*args, client->platform_version)) {
      delete client;
      return error;
    }
  }
  args->client = client;
  return nullptr;
#endif
}
PJRT_Error* client_destroy(PJRT_Client_Destroy_Args* args) {
  record("PJRT_Client_Destroy");
  delete args->client;
  return nullptr;
}
PJRT_Error* platform_name(PJRT_Client_PlatformName_Args* args) {
  constexpr std::string_view name = STUB_PLATFORM;
  args->platform_name = name.data();
  args->platform_name_size = name.size();
  return nullptr;
}
[[maybe_unused]] PJRT_Error* platform_version(PJRT_Client_PlatformVersion_Args* args) {
  args->platform_version = args->client->platform_version.data();
  args->platform_version_size = args->client->platform_version.size();
  return nullptr;
}
PJRT_Error* process_index(PJRT_Client_ProcessIndex_Args* args) {
  args->process_index = 0;
  return nullptr;
}
PJRT_Error* client_devices(PJRT_Client_Devices_Args* args) {
#ifdef STUB_NO_DEVICES
  args->num_devices = 0;
#else
  args->devices = args->client->device_list;
  args->num_devices = 2;
#endif
  return nullptr;
}

PJRT_Error* description_id(PJRT_DeviceDescription_Id_Args* args) {
  args->id = args->device_description->id;
  return nullptr;
}
PJRT_Error* description_process(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  args->process_index = 0;
  return nullptr;
}
PJRT_Error* description_kind(PJRT_DeviceDescription_Kind_Args* args) {
  constexpr std::string_view kind = "Stub 9000";
  args->device_kind = kind.data();
  args->device_kind_size = kind.size();
  return nullptr;
}
PJRT_Error* device_description(PJRT_Device_GetDescription_Args* args) {
  args->device_description = &args->device->description;
  return nullptr;
}
PJRT_Error* device_is_addressable(PJRT_Device_IsAddressable_Args* args) {
  args->is_addressable = true;
  return nullptr;
}
[[maybe_unused]] PJRT_Error* device_hardware_id(PJRT_Device_LocalHardwareId_Args* args) {
  args->local_hardware_id = 10 + args->device->description.id;
  return nullptr;
}
[[maybe_unused]] PJRT_Error* device_memory_stats(PJRT_Device_MemoryStats_Args* args) {
  args->bytes_in_use = 1000;
  args->bytes_limit = 4000;
  args->bytes_limit_is_set = true;
  return nullptr;
}

std::size_t size_of(PJRT_Buffer_Type type, const std::vector<std::int64_t>& dimensions) {
  std::size_t size = type == PJRT_Buffer_Type_BF16 ? 2 : 4;
  for (const std::int64_t extent : dimensions) size *= static_cast<std::size_t>(extent);
  return size;
}

PJRT_Error* buffer_from_host(PJRT_Client_BufferFromHostBuffer_Args* args) {
#ifdef STUB_BF16_FAILS
  if (args->type == PJRT_Buffer_Type_BF16) {
    // What a half-made transfer leaves behind: whoever destroys it crashes.
    args->buffer = reinterpret_cast<PJRT_Buffer*>(std::uintptr_t{0x10});
    args->done_with_host_buffer = reinterpret_cast<PJRT_Event*>(std::uintptr_t{0x10});
    return make_error(PJRT_Error_Code_UNIMPLEMENTED, "bf16 is not supported by the stub");
  }
#endif
  std::vector<std::int64_t> dimensions(args->dims, args->dims + args->num_dims);
  const std::size_t size = size_of(args->type, dimensions);
  args->buffer =
      new PJRT_Buffer{args->type, std::move(dimensions),
                      std::string(static_cast<const char*>(args->data), size), args->device};
  args->done_with_host_buffer = new PJRT_Event;
  return nullptr;
}
PJRT_Error* buffer_destroy(PJRT_Buffer_Destroy_Args* args) {
  delete args->buffer;
  return nullptr;
}
PJRT_Error* buffer_element_type(PJRT_Buffer_ElementType_Args* args) {
  args->type = args->buffer->type;
  return nullptr;
}
PJRT_Error* buffer_dimensions(PJRT_Buffer_Dimensions_Args* args) {
  args->dims = args->buffer->dimensions.data();
  args->num_dims = args->buffer->dimensions.size();
  return nullptr;
}
PJRT_Error* buffer_device(PJRT_Buffer_Device_Args* args) {
  args->device = args->buffer->device;
  return nullptr;
}
PJRT_Error* buffer_to_host(PJRT_Buffer_ToHostBuffer_Args* args) {
  std::memcpy(args->dst, args->src->bytes.data(), args->src->bytes.size());
  args->event = new PJRT_Event;
  return nullptr;
}

[[maybe_unused]] PJRT_Api make_api() {
  PJRT_Api api{};
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Error_Destroy = error_destroy;
  api.PJRT_Error_Message = error_message;
  api.PJRT_Error_GetCode = error_code;
  api.PJRT_Plugin_Initialize = initialize;
  api.PJRT_Event_Destroy = event_destroy;
  api.PJRT_Event_IsReady = event_is_ready;
  api.PJRT_Event_Await = event_await;
  api.PJRT_Event_OnReady = event_on_ready;
  api.PJRT_Client_Create = client_create;
  api.PJRT_Client_Destroy = client_destroy;
  api.PJRT_Client_PlatformName = platform_name;
  api.PJRT_Client_ProcessIndex = process_index;
  api.PJRT_Client_Devices = client_devices;
  api.PJRT_DeviceDescription_Id = description_id;
  api.PJRT_DeviceDescription_ProcessIndex = description_process;
  api.PJRT_DeviceDescription_Kind = description_kind;
  api.PJRT_Device_GetDescription = device_description;
  api.PJRT_Device_IsAddressable = device_is_addressable;
  api.PJRT_Client_BufferFromHostBuffer = buffer_from_host;
  api.PJRT_Buffer_Destroy = buffer_destroy;
  api.PJRT_Buffer_ElementType = buffer_element_type;
  api.PJRT_Buffer_Dimensions = buffer_dimensions;
  api.PJRT_Buffer_Device = buffer_device;
  api.PJRT_Buffer_ToHostBuffer = buffer_to_host;
#ifndef STUB_NULL_OPTIONAL_ENTRIES
  api.PJRT_Plugin_Attributes = attributes;
  api.PJRT_Client_PlatformVersion = platform_version;
  api.PJRT_Device_LocalHardwareId = device_hardware_id;
  api.PJRT_Device_MemoryStats = device_memory_stats;
#endif
#ifdef STUB_WRONG_MAJOR
  api.pjrt_api_version.major_version = PJRT_API_MAJOR + 7;
#endif
#ifdef STUB_NO_INITIALIZE
  api.PJRT_Plugin_Initialize = nullptr;
#endif
#ifdef STUB_SHORT_TABLE
  // An old plugin's table ends early; what lies behind it in memory is not part of it.
  api.struct_size = offsetof(PJRT_Api, PJRT_Client_TopologyDescription);
  api.PJRT_Client_TopologyDescription =
      reinterpret_cast<decltype(api.PJRT_Client_TopologyDescription)>(std::uintptr_t{0x10});
#endif
#ifdef STUB_TINY_TABLE
  api.struct_size = 8;
#endif
  return api;
}

#ifdef STUB_ABORTS
struct Aborts {
  Aborts() {
    std::fputs("stub: no such device, giving up\n", stderr);
    std::abort();
  }
} const aborts;
#endif
#ifdef STUB_EXITS
struct Exits {
  Exits() {
    std::fputs("stub: bad flag, leaving\n", stderr);
    std::exit(3);
  }
} const exits;
#endif

}  // namespace

// What was called so far, a name a line.
extern "C" const char* stub_plugin_calls() {
  return calls().c_str();
}

#ifndef STUB_NO_SYMBOL
extern "C" const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api api = make_api();
  return &api;
}
#endif
