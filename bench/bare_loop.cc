#include "bare_loop.h"

#include <xla/pjrt/c/pjrt_c_api.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "lockstep/pjrt/client.h"
#include "lockstep/trace/compiled_program.h"
#include "lockstep/tree/algorithms.h"
#include "tiny_step.h"

namespace lockstep::bench {
namespace {

constexpr std::size_t num_state = 2;
constexpr std::size_t num_outputs = 3;

void check(const PJRT_Api* api, PJRT_Error* error) {
  if (error == nullptr) return;
  PJRT_Error_Message_Args message{PJRT_Error_Message_Args_STRUCT_SIZE, nullptr, error, nullptr, 0};
  api->PJRT_Error_Message(&message);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.message_size), message.message);
  std::abort();
}

}  // namespace

struct BareLoop::Impl {
  CompiledProgram program;
  const PJRT_Api* api;
  PJRT_Client* client;
  PJRT_LoadedExecutable* executable;
  std::vector<PJRT_Device*> devices;
  std::int64_t rows_per_device;
  std::size_t max_in_flight;
  std::vector<std::vector<PJRT_Buffer*>> state;  // by device
  std::deque<std::vector<PJRT_Event*>> running;

  void destroy(PJRT_Buffer* buffer) const {
    PJRT_Buffer_Destroy_Args args{PJRT_Buffer_Destroy_Args_STRUCT_SIZE, nullptr, buffer};
    check(api, api->PJRT_Buffer_Destroy(&args));
  }
  void destroy(PJRT_Event* event) const {
    PJRT_Event_Destroy_Args args{PJRT_Event_Destroy_Args_STRUCT_SIZE, nullptr, event};
    check(api, api->PJRT_Event_Destroy(&args));
  }

  [[nodiscard]] PJRT_Buffer* place(const float* data, const std::int64_t* dims, PJRT_Device* device,
                                   PJRT_HostBufferSemantics semantics) const {
    PJRT_Client_BufferFromHostBuffer_Args args{};
    args.struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE;
    args.client = client;
    args.data = data;
    args.type = PJRT_Buffer_Type_F32;
    args.dims = dims;
    args.num_dims = 2;
    args.host_buffer_semantics = semantics;
    args.device = device;
    check(api, api->PJRT_Client_BufferFromHostBuffer(&args));
    destroy(args.done_with_host_buffer);
    return args.buffer;
  }

  void await_oldest() {
    for (PJRT_Event* event : running.front()) {
      PJRT_Event_Await_Args args{PJRT_Event_Await_Args_STRUCT_SIZE, nullptr, event};
      check(api, api->PJRT_Event_Await(&args));
      destroy(event);
    }
    running.pop_front();
  }

  void step(const float* batch) {
    const std::size_t n = devices.size();
    const std::int64_t dims[] = {rows_per_device, 16};
    std::vector<std::vector<PJRT_Buffer*>> arguments = state;
    for (std::size_t d = 0; d < n; ++d) {
      arguments[d].push_back(place(batch + static_cast<std::int64_t>(d) * rows_per_device * 16,
                                   dims, devices[d], PJRT_HostBufferSemantics_kImmutableZeroCopy));
    }
    while (running.size() >= max_in_flight) await_oldest();
    std::vector<std::vector<PJRT_Buffer*>> outputs(n, std::vector<PJRT_Buffer*>(num_outputs));
    std::vector<PJRT_Buffer* const*> argument_lists(n);
    std::vector<PJRT_Buffer**> output_lists(n);
    for (std::size_t d = 0; d < n; ++d) {
      argument_lists[d] = arguments[d].data();
      output_lists[d] = outputs[d].data();
    }
    std::vector<PJRT_Event*> events(n);
    PJRT_ExecuteOptions options{};
    options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
    PJRT_LoadedExecutable_Execute_Args args{};
    args.struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE;
    args.executable = executable;
    args.options = &options;
    args.argument_lists = argument_lists.data();
    args.num_devices = n;
    args.num_args = num_state + 1;
    args.output_lists = output_lists.data();
    args.device_complete_events = events.data();
    check(api, api->PJRT_LoadedExecutable_Execute(&args));
    running.push_back(std::move(events));
    for (std::size_t d = 0; d < n; ++d) {
      for (PJRT_Buffer* argument : arguments[d]) destroy(argument);
      destroy(outputs[d].back());  // the loss
      outputs[d].pop_back();
    }
    state = std::move(outputs);
  }
};

BareLoop::BareLoop(const std::shared_ptr<const Strategy>& strategy, std::int64_t max_in_flight) {
  const Sharding replicated = strategy->state_sharding();
  CompiledProgramOptions options{.name = "bare_tiny_step"};
  options.input_shardings = {replicated, replicated, strategy->batch_sharding(2)};
  options.output_shardings = {replicated};
  options.donated = {true, true, false};
  const std::vector<AbstractValue> inputs(
      3, AbstractValue{.shape = {16, 16}, .dtype = DType::Float32});
  CompiledProgram program = CompiledProgram::compile(
      [](std::span<const Array> arguments) {
        const StepOutput output =
            tiny_step(Tree{{"m", arguments[0]}, {"w", arguments[1]}}, Tree{{"x", arguments[2]}});
        return std::vector<Array>{output.state["m"].leaf(), output.state["w"].leaf(),
                                  output.metrics["loss"].leaf()};
      },
      inputs, options);
  const pjrt::LoadedExecutable& executable = program.executable();
  impl_ = std::make_unique<Impl>(
      Impl{.program = program,
           .api = executable.client().api(),
           .client = executable.client().handle(),
           .executable = executable.handle(),
           .devices = {},
           .rows_per_device = 16 / static_cast<std::int64_t>(executable.devices().size()),
           .max_in_flight = static_cast<std::size_t>(max_in_flight),
           .state = {},
           .running = {}});
  const std::int64_t dims[] = {16, 16};
  const std::vector<Array> start = flatten(tiny_state());
  for (const Device& device : executable.devices()) {
    impl_->devices.push_back(device.handle());
    std::vector<PJRT_Buffer*> buffers;
    for (const Array& leaf : start) {
      // Copied: the state is donated, and the first step writes into it.
      buffers.push_back(impl_->place(leaf.to_host().values<float>().data(), dims, device.handle(),
                                     PJRT_HostBufferSemantics_kImmutableOnlyDuringCall));
    }
    impl_->state.push_back(std::move(buffers));
  }
}

BareLoop::~BareLoop() {
  for (const auto& buffers : impl_->state) {
    for (PJRT_Buffer* buffer : buffers) impl_->destroy(buffer);
  }
}

void BareLoop::run(std::int64_t steps) {
  std::vector<HostTensor> hosts;
  std::vector<const float*> batches;
  for (const Tree& batch : tiny_batches()) {
    hosts.push_back(batch["x"].leaf().to_host());
    batches.push_back(hosts.back().values<float>().data());
  }
  for (std::int64_t i = 0; i < steps; ++i) impl_->step(batches[static_cast<std::size_t>(i) & 7U]);
  while (!impl_->running.empty()) impl_->await_oldest();
}

}  // namespace lockstep::bench
