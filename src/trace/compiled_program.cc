#include "lockstep/trace/compiled_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "lockstep/pjrt/runtime.h"
#include "lockstep/trace/executable_cache.h"
#include "lockstep/trace/record.h"

namespace lockstep {
namespace {

// Memory one run needs; kept between runs so that a run allocates only its results.
struct Scratch {
  std::vector<const Array*> inputs;
  std::vector<PJRT_Buffer*> arguments;   // device-major
  std::vector<PJRT_Buffer*> outputs;     // device-major
  std::vector<const PJRT_Buffer*> seen;  // open-addressed set of the buffers of this run
};

const Sharding& sharding_at(const std::vector<Sharding>& shardings, std::size_t index) {
  return shardings.size() == 1 ? shardings.front() : shardings[index];
}

std::string device_list(const Sharding& sharding) {
  std::string text;
  for (const Device& device : sharding.devices()) {
    text += (text.empty() ? "" : ", ") + device.to_string();
  }
  return text;
}

std::string input_name(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() ? "argument '" + names[index] + "'"
                              : "argument " + std::to_string(index);
}

// The sharding that says where the program runs.
Sharding anchor_of(const CompiledProgramOptions& options) {
  if (!options.input_shardings.empty()) return options.input_shardings.front();
  if (!options.output_shardings.empty()) return options.output_shardings.front();
  return SingleDeviceSharding{default_device()};
}

Sharding default_output_sharding(const Sharding& anchor) {
  if (anchor.mesh() == nullptr) return anchor;
  return NamedSharding{*anchor.mesh(), {}};
}

bool same_place(const Sharding& a, const Sharding& b) {
  if ((a.mesh() == nullptr) != (b.mesh() == nullptr)) return false;
  return a.mesh() == nullptr ? a.devices() == b.devices() : *a.mesh() == *b.mesh();
}

}  // namespace

struct CompiledProgram::Impl {
  std::string name;
  std::string module_text;
  std::vector<AbstractValue> inputs;
  std::vector<AbstractValue> outputs;
  std::vector<Sharding> input_shardings;
  std::vector<Sharding> output_shardings;
  std::vector<std::string> input_names;
  std::vector<std::size_t> donated;  // indices
  std::vector<Array> hoisted;        // placed constants, passed after the inputs
  std::shared_ptr<pjrt::LoadedExecutable> executable;
  std::size_t num_devices = 1;

  mutable std::mutex scratch_mutex;
  mutable Scratch scratch;

  [[nodiscard]] Scratch make_scratch() const {
    const std::size_t num_arguments = inputs.size() + hoisted.size();
    Scratch made;
    made.inputs.resize(inputs.size());
    made.arguments.resize(num_devices * num_arguments);
    made.outputs.resize(num_devices * outputs.size());
    if (!donated.empty()) made.seen.resize(std::bit_ceil(2 * num_arguments + 1));
    // Hoisted constants keep their places from run to run.
    for (std::size_t i = 0; i < hoisted.size(); ++i) {
      const auto buffers = hoisted[i].buffers();
      for (std::size_t d = 0; d < num_devices; ++d) {
        made.arguments[d * num_arguments + inputs.size() + i] = buffers[d]->handle();
      }
    }
    return made;
  }

  [[nodiscard]] bool accepts(std::size_t index, const Array& array) const {
    if (array.is_null() || !array.is_device()) return false;
    const AbstractValue& found = array.abstract_value();
    const AbstractValue& expected = inputs[index];
    return found.dtype == expected.dtype && found.shape == expected.shape &&
           array.sharding() == input_shardings[index] && !array.buffers().front()->is_donated();
  }

  [[noreturn]] void refuse(std::size_t index, const Array& array) const;
  [[noreturn]] void refuse_twice(std::span<const Array* const> arrays) const;
  void check_not_twice(Scratch& used) const;
  void run(std::span<const InputPart> in, std::span<const OutputPart> out,
           std::span<pjrt::Event> device_events, Scratch& used) const;
};

void CompiledProgram::Impl::refuse(std::size_t index, const Array& array) const {
  const std::string argument = input_name(input_names, index);
  if (array.is_null()) {
    throw_value_error(name,
                      argument + " has no value; it was default-constructed and never assigned");
  }
  const std::string found = to_string(array.abstract_value());
  if (array.is_traced()) {
    throw_value_error(name,
                      argument + " (" + found +
                          ") is a traced value, and a compiled program needs arrays on devices; "
                          "call the traced function instead, or the program outside the trace");
  }
  const AbstractValue& expected = inputs[index];
  if (array.dtype() != expected.dtype || array.shape() != expected.shape) {
    throw_value_error(name, argument + " is " + found + ", but the program was compiled for " +
                                to_string(expected));
  }
  if (array.is_host()) {
    throw_value_error(name, argument + " (" + found + ") is in host memory; place it first: " +
                                "device_put with the sharding " +
                                input_shardings[index].to_string());
  }
  if (array.buffers().front()->is_donated()) {
    throw_value_error(name,
                      argument + " (" + found +
                          ") is already donated: an earlier call took its memory over. Use that "
                          "call's result instead, or keep a copy made before the call");
  }
  throw_value_error(name, argument + " (" + found + ") lives on " + array.sharding().to_string() +
                              " (" + device_list(array.sharding()) +
                              "), but the program was compiled for " +
                              input_shardings[index].to_string() + " (" +
                              device_list(input_shardings[index]) + "); place it with device_put");
}

void CompiledProgram::Impl::refuse_twice(std::span<const Array* const> arrays) const {
  for (const std::size_t d : donated) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (i == d || arrays[i]->buffers().front() != arrays[d]->buffers().front()) continue;
      throw_value_error(name, "the same buffer is passed twice, as " + input_name(input_names, d) +
                                  ", which is donated, and as " + input_name(input_names, i) +
                                  "; pass a copy as one of them, or do not donate it");
    }
  }
  throw_value_error(name, "a donated argument is also a constant of the program; pass a copy");
}

void CompiledProgram::Impl::check_not_twice(Scratch& used) const {
  const std::size_t mask = used.seen.size() - 1;
  const auto slot_of = [&](const PJRT_Buffer* buffer) {
    auto slot = static_cast<std::size_t>(
        (reinterpret_cast<std::uintptr_t>(buffer) >> 4) * 0x9E3779B97F4A7C15ULL >> 20U);
    for (slot &= mask; used.seen[slot] != nullptr && used.seen[slot] != buffer;) {
      slot = (slot + 1) & mask;
    }
    return slot;
  };
  std::fill(used.seen.begin(), used.seen.end(), nullptr);
  for (const std::size_t d : donated) {
    const PJRT_Buffer* buffer = used.arguments[d];
    const std::size_t slot = slot_of(buffer);
    if (used.seen[slot] != nullptr) refuse_twice(used.inputs);
    used.seen[slot] = buffer;
  }
  const std::size_t num_arguments = inputs.size() + hoisted.size();
  for (std::size_t i = 0, next = 0; i < num_arguments; ++i) {
    if (next < donated.size() && donated[next] == i) {
      ++next;
    } else if (used.seen[slot_of(used.arguments[i])] != nullptr) {
      refuse_twice(used.inputs);
    }
  }
}

void CompiledProgram::Impl::run(std::span<const InputPart> in, std::span<const OutputPart> out,
                                std::span<pjrt::Event> device_events, Scratch& used) const {
  const std::size_t num_arguments = inputs.size() + hoisted.size();
  std::size_t index = 0;
  for (const InputPart part : in) {
    for (const Array& array : part) {
      if (!accepts(index, array)) refuse(index, array);
      used.inputs[index] = &array;
      const auto buffers = array.buffers();
      for (std::size_t d = 0; d < num_devices; ++d) {
        used.arguments[d * num_arguments + index] = buffers[d]->handle();
      }
      ++index;
    }
  }
  if (!donated.empty()) check_not_twice(used);

  executable->execute({.arguments = used.arguments,
                       .outputs = used.outputs,
                       .non_donatable = {},
                       .device_events = device_events});
  for (const std::size_t i : donated) {
    for (const auto& buffer : used.inputs[i]->buffers()) buffer->mark_donated();
  }

  pjrt::Client& client = executable->client();
  std::size_t o = 0;
  for (const OutputPart part : out) {
    for (Array& output : part) {
      std::vector<std::shared_ptr<pjrt::Buffer>> buffers;
      buffers.reserve(num_devices);
      for (std::size_t d = 0; d < num_devices; ++d) {
        buffers.push_back(
            std::make_shared<pjrt::Buffer>(client, used.outputs[d * outputs.size() + o]));
      }
      output = Array::from_buffers(outputs[o], output_shardings[o], std::move(buffers));
      ++o;
    }
  }
}

void CompiledProgram::run(std::span<const Array> inputs, std::span<Array> outputs,
                          std::span<pjrt::Event> device_events) const {
  run({inputs}, {outputs}, device_events);
}

void CompiledProgram::run(std::initializer_list<InputPart> inputs,
                          std::initializer_list<OutputPart> outputs,
                          std::span<pjrt::Event> device_events) const {
  const Impl& impl = *impl_;
  std::size_t num_given = 0;
  std::size_t room = 0;
  for (const InputPart part : inputs) num_given += part.size();
  for (const OutputPart part : outputs) room += part.size();
  if (num_given != impl.inputs.size() || room != impl.outputs.size()) {
    throw_value_error(impl.name,
                      fmt::format("got {} inputs and room for {} outputs, but the program "
                                  "has {} inputs and {} outputs",
                                  num_given, room, impl.inputs.size(), impl.outputs.size()));
  }
  if (!device_events.empty() && device_events.size() != impl.num_devices) {
    throw_value_error(impl.name,
                      fmt::format("got room for {} device events, but the program runs on "
                                  "{} devices",
                                  device_events.size(), impl.num_devices));
  }
  // The kept scratch serves one run at a time; a run beside it makes its own.
  if (const std::unique_lock lock(impl.scratch_mutex, std::try_to_lock); lock.owns_lock()) {
    impl.run(inputs, outputs, device_events, impl.scratch);
  } else {
    Scratch own = impl.make_scratch();
    impl.run(inputs, outputs, device_events, own);
  }
}

std::vector<Array> CompiledProgram::operator()(std::span<const Array> inputs) const {
  std::vector<Array> outputs(num_outputs());
  run(inputs, outputs);
  return outputs;
}

LoweringOptions lowering_options(const CompiledProgramOptions& options, std::size_t num_inputs,
                                 std::size_t num_outputs) {
  const std::string& where = options.name;
  if (options.input_shardings.size() != num_inputs && num_inputs > 0) {
    throw_value_error(where, fmt::format("got {} input shardings for {} inputs",
                                         options.input_shardings.size(), num_inputs));
  }
  if (options.output_shardings.size() > 1 && options.output_shardings.size() != num_outputs) {
    throw_value_error(where,
                      fmt::format("got {} output shardings for {} outputs; give one for each, or "
                                  "one for all",
                                  options.output_shardings.size(), num_outputs));
  }
  if (!options.donated.empty() && options.donated.size() != num_inputs) {
    throw_value_error(where, fmt::format("got {} donation flags for {} inputs",
                                         options.donated.size(), num_inputs));
  }
  const Sharding anchor = anchor_of(options);
  const auto check = [&](const Sharding& sharding, const std::string& what) {
    if (same_place(sharding, anchor)) return;
    throw_value_error(
        where, fmt::format("the arrays are on different devices: {} on {} ({}), others "
                           "on {} ({}); bring them together with device_put",
                           what, sharding.to_string(), device_list(sharding), anchor.to_string(),
                           device_list(anchor)));
  };
  LoweringOptions lowering{.name = where,
                           .mesh = {},
                           .parameter_specs = {},
                           .output_specs = {},
                           .donated = options.donated};
  for (std::size_t i = 0; i < num_inputs; ++i) {
    check(options.input_shardings[i], input_name(options.input_names, i));
    lowering.parameter_specs.push_back(options.input_shardings[i].spec());
  }
  for (std::size_t o = 0; o < num_outputs; ++o) {
    const Sharding sharding = options.output_shardings.empty()
                                  ? default_output_sharding(anchor)
                                  : sharding_at(options.output_shardings, o);
    check(sharding, "result " + std::to_string(o));
    lowering.output_specs.push_back(sharding.spec());
  }
  if (anchor.mesh() != nullptr) lowering.mesh = *anchor.mesh();
  return lowering;
}

CompiledProgram CompiledProgram::compile(LoweredModule module,
                                         const CompiledProgramOptions& options) {
  auto impl = std::make_shared<Impl>();
  const Sharding anchor = anchor_of(options);
  impl->name = options.name;
  impl->input_shardings = options.input_shardings;
  impl->input_names = options.input_names;
  for (std::size_t o = 0; o < module.outputs.size(); ++o) {
    impl->output_shardings.push_back(options.output_shardings.empty()
                                         ? default_output_sharding(anchor)
                                         : sharding_at(options.output_shardings, o));
  }
  // A shape that a sharding does not divide is refused here, not by the compiler.
  for (std::size_t i = 0; i < module.parameters.size(); ++i) {
    (void)impl->input_shardings[i].shard_shape(module.parameters[i].shape);
  }
  for (std::size_t o = 0; o < module.outputs.size(); ++o) {
    (void)impl->output_shardings[o].shard_shape(module.outputs[o].shape);
  }
  for (std::size_t i = 0; i < options.donated.size(); ++i) {
    if (options.donated[i]) impl->donated.push_back(i);
  }
  for (const Array& constant : module.hoisted_constants) {
    impl->hoisted.push_back(device_put(constant, default_output_sharding(anchor)));
  }
  impl->inputs = std::move(module.parameters);
  impl->outputs = std::move(module.outputs);

  pjrt::CompileOptions compile_options;
  const std::vector<Device>& devices = anchor.devices();
  compile_options.num_partitions = static_cast<std::int64_t>(devices.size());
  compile_options.use_spmd_partitioning = devices.size() > 1;
  compile_options.use_shardy_partitioner = anchor.mesh() != nullptr;
  for (const Device& device : devices) compile_options.device_ids.push_back(device.id());
  pjrt::Client& client = devices.front().client();
  if (client.platform_name() == "cpu") {
    // The faster minima and maxima of XLA:CPU lose NaNs, and with them the sign that a run
    // diverged.
    compile_options.debug_options = {{"xla_cpu_enable_fast_min_max", false}};
  }
  impl->executable = compile_cached(client, module.text, compile_options);
  impl->module_text = std::move(module.text);
  impl->num_devices = impl->executable->devices().size();
  if (impl->executable->num_outputs() != impl->outputs.size()) {
    throw_runtime_error(options.name,
                        fmt::format("the compiled program has {} outputs, its function {}",
                                    impl->executable->num_outputs(), impl->outputs.size()));
  }
  impl->scratch = impl->make_scratch();
  return CompiledProgram(std::move(impl));
}

CompiledProgram CompiledProgram::compile(const Graph& graph, std::span<const ValueId> outputs,
                                         const CompiledProgramOptions& options) {
  return compile(lower_graph(graph, outputs,
                             lowering_options(options, graph.parameters().size(), outputs.size())),
                 options);
}

CompiledProgram CompiledProgram::compile(const FlatFunction& function,
                                         std::span<const AbstractValue> inputs,
                                         const CompiledProgramOptions& options) {
  const RecordedFunction recorded = record(function, inputs);
  return compile(*recorded.graph, recorded.outputs, options);
}

const std::vector<AbstractValue>& CompiledProgram::inputs() const {
  return impl_->inputs;
}
const std::vector<AbstractValue>& CompiledProgram::outputs() const {
  return impl_->outputs;
}
const std::vector<Sharding>& CompiledProgram::input_shardings() const {
  return impl_->input_shardings;
}
const std::vector<Sharding>& CompiledProgram::output_shardings() const {
  return impl_->output_shardings;
}
const std::vector<Device>& CompiledProgram::devices() const {
  return impl_->executable->devices();
}
const std::string& CompiledProgram::module_text() const {
  return impl_->module_text;
}
const pjrt::LoadedExecutable& CompiledProgram::executable() const {
  return *impl_->executable;
}

}  // namespace lockstep
