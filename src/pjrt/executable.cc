#include "lockstep/pjrt/executable.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"

namespace lockstep::pjrt {
namespace {

// The program behind a loaded executable: most questions go to it.
class Program {
 public:
  Program(const PJRT_Api* api, PJRT_LoadedExecutable* loaded) : api_(api) {
    auto call = LOCKSTEP_PJRT_CALL(api, PJRT_LoadedExecutable_GetExecutable);
    call->loaded_executable = loaded;
    call.run();
    handle_ = call->executable;
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    auto call = LOCKSTEP_PJRT_CALL(api_, PJRT_Executable_Destroy);
    call->executable = handle_;
    std::ignore = call.try_run();
  }
  [[nodiscard]] PJRT_Executable* handle() const { return handle_; }

 private:
  const PJRT_Api* api_;
  PJRT_Executable* handle_ = nullptr;
};

std::size_t read_num_outputs(const PJRT_Api* api, const Program& program) {
  auto call = LOCKSTEP_PJRT_CALL(api, PJRT_Executable_NumOutputs);
  call->executable = program.handle();
  call.run();
  return call->num_outputs;
}

std::string read_fingerprint(const PJRT_Api* api, const Program& program,
                             PJRT_LoadedExecutable* loaded) {
  auto call = LOCKSTEP_PJRT_CALL(api, PJRT_Executable_Fingerprint);
  call->executable = program.handle();
  if (!call.try_run()) return {call->executable_fingerprint, call->executable_fingerprint_size};
  auto older = LOCKSTEP_PJRT_CALL(api, PJRT_LoadedExecutable_Fingerprint);
  older->executable = loaded;
  if (!older.try_run()) return {older->executable_fingerprint, older->executable_fingerprint_size};
  return {};
}

// Lists of one pointer per device without an allocation for as many devices as hosts have.
template <class T>
class PerDevice {
 public:
  explicit PerDevice(std::size_t count) {
    if (count > few_.size()) {
      many_.resize(count);
      data_ = many_.data();
    }
  }
  PerDevice(const PerDevice&) = delete;
  PerDevice& operator=(const PerDevice&) = delete;
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }

 private:
  std::array<T, 16> few_;
  std::vector<T> many_;
  T* data_ = few_.data();
};

void check_sizes(const LoadedExecutable& executable,
                 const LoadedExecutable::ExecuteArguments& arguments) {
  const std::size_t num_devices = executable.devices().size();
  if (arguments.arguments.size() % num_devices != 0 ||
      arguments.outputs.size() != num_devices * executable.num_outputs() ||
      (!arguments.device_events.empty() && arguments.device_events.size() != num_devices)) {
    throw_value_error(
        "LoadedExecutable::execute",
        fmt::format("{} arguments, room for {} outputs and {} events do not fit a program of {} "
                    "outputs on {} devices; every list holds its entries for each device",
                    arguments.arguments.size(), arguments.outputs.size(),
                    arguments.device_events.size(), executable.num_outputs(), num_devices));
  }
}

}  // namespace

LoadedExecutable::LoadedExecutable(Client& client, PJRT_LoadedExecutable* executable)
    : client_(&client), executable_(executable) {
  try {
    auto call = LOCKSTEP_PJRT_CALL(client.api(), PJRT_LoadedExecutable_AddressableDevices);
    call->executable = executable;
    call.run();
    devices_.reserve(call->num_addressable_devices);
    for (std::size_t i = 0; i < call->num_addressable_devices; ++i) {
      devices_.push_back(client.device(call->addressable_devices[i]));
    }
    const Program program(client.api(), executable);
    num_outputs_ = read_num_outputs(client.api(), program);
    fingerprint_ = read_fingerprint(client.api(), program, executable);
  } catch (...) {
    destroy();
    throw;
  }
}

LoadedExecutable::~LoadedExecutable() {
  destroy();
}

void LoadedExecutable::destroy() {
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_LoadedExecutable_Destroy);
  call->executable = executable_;
  std::ignore = call.try_run();
}

std::optional<CompiledMemoryStats> LoadedExecutable::memory_stats() const {
  const Program program(client_->api(), executable_);
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Executable_GetCompiledMemoryStats);
  call->executable = program.handle();
  if (call.try_run()) return std::nullopt;
  return CompiledMemoryStats{.generated_code = call->generated_code_size_in_bytes,
                             .arguments = call->argument_size_in_bytes,
                             .outputs = call->output_size_in_bytes,
                             .aliased = call->alias_size_in_bytes,
                             .temporaries = call->temp_size_in_bytes};
}

std::string LoadedExecutable::serialize() const {
  const Program program(client_->api(), executable_);
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Executable_Serialize);
  call->executable = program.handle();
  call.run();
  std::string bytes(call->serialized_bytes, call->serialized_bytes_size);
  if (call->serialized_executable_deleter != nullptr) {
    call->serialized_executable_deleter(call->serialized_executable);
  }
  return bytes;
}

std::pair<std::string, std::string> LoadedExecutable::optimized_program() const {
  const Program program(client_->api(), executable_);
  PJRT_Program optimized{};
  optimized.struct_size = PJRT_Program_STRUCT_SIZE;
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_Executable_OptimizedProgram);
  call->executable = program.handle();
  call->program = &optimized;
  call.run();
  std::string code(optimized.code_size, '\0');
  optimized.code = code.data();
  call.run();
  return {std::move(code), std::string(optimized.format, optimized.format_size)};
}

void LoadedExecutable::execute(const ExecuteArguments& arguments) const {
  check_sizes(*this, arguments);
  const std::size_t num_devices = devices_.size();
  const std::size_t num_arguments = arguments.arguments.size() / num_devices;
  PerDevice<PJRT_Buffer* const*> argument_lists(num_devices);
  PerDevice<PJRT_Buffer**> output_lists(num_devices);
  PerDevice<PJRT_Event*> events(num_devices);
  for (std::size_t d = 0; d < num_devices; ++d) {
    argument_lists[d] = arguments.arguments.data() + d * num_arguments;
    output_lists[d] = arguments.outputs.data() + d * num_outputs_;
  }
  PJRT_ExecuteOptions options{};
  options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
  options.non_donatable_input_indices = arguments.non_donatable.data();
  options.num_non_donatable_input_indices = arguments.non_donatable.size();
  auto call = LOCKSTEP_PJRT_CALL(client_->api(), PJRT_LoadedExecutable_Execute);
  call->executable = executable_;
  call->options = &options;
  call->argument_lists = argument_lists.data();
  call->num_devices = num_devices;
  call->num_args = num_arguments;
  call->output_lists = output_lists.data();
  if (!arguments.device_events.empty()) call->device_complete_events = events.data();
  call.run();
  for (std::size_t d = 0; d < arguments.device_events.size(); ++d) {
    arguments.device_events[d] = Event(client_->api(), events[d]);
  }
}

}  // namespace lockstep::pjrt
