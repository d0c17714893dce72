#include "trace/eager.h"

#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/runtime.h"
#include "lockstep/trace/compiled_program.h"
#include "lockstep/trace/record.h"
#include "trace/commitment.h"

namespace lockstep {
namespace {

// The compiled one-op programs of this process.
class EagerPrograms {
 public:
  static EagerPrograms& instance() {
    static EagerPrograms programs;
    return programs;
  }

  template <class Make>
  CompiledProgram get(const std::string& key, Make&& make) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    }
    // Compiled outside the lock; where two threads race, one result is dropped.
    CompiledProgram made = make();
    const std::unique_lock lock(mutex_);
    return programs_.try_emplace(key, std::move(made)).first->second;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<std::string, CompiledProgram> programs_;
};

// Where the program runs: on the devices of the inputs that are placed.
Sharding place_of(const Primitive& primitive, std::span<const Array> inputs) {
  const Array* placed = nullptr;
  for (const Array& input : inputs) {
    if (!input.is_committed()) continue;
    if (placed == nullptr) placed = &input;
    if (input.sharding().devices() == placed->sharding().devices()) {
      if (input.sharding().mesh() != nullptr) placed = &input;
      continue;
    }
    throw_value_error(
        primitive.name(),
        "its operands are on different devices: " + to_string(placed->abstract_value()) + " on " +
            placed->sharding().to_string() + ", " + to_string(input.abstract_value()) + " on " +
            input.sharding().to_string() + "; bring them together with device_put");
  }
  if (placed == nullptr) return SingleDeviceSharding{default_device()};
  if (const Mesh* mesh = placed->sharding().mesh()) return NamedSharding{*mesh, {}};
  return placed->sharding();
}

void append_sharding(std::string& key, const Sharding& sharding) {
  for (const Device& device : sharding.devices()) {
    key += device.platform_name() + std::to_string(device.id()) + ",";
  }
  if (sharding.mesh() != nullptr) key += sharding.to_string();
  key += ';';
}

}  // namespace

std::vector<Array> run_eagerly(const std::shared_ptr<const Primitive>& primitive,
                               std::span<const Array> inputs) {
  for (const Array& input : inputs) {
    if (!input.is_traced()) continue;
    throw_value_error(
        primitive->name(),
        "an operand (" + to_string(input.abstract_value()) +
            ") is a traced value used outside the trace that made it; a traced "
            "function must return what is wanted of it instead of keeping it elsewhere");
  }
  const Sharding place = place_of(*primitive, inputs);
  std::vector<Array> placed(inputs.begin(), inputs.end());
  std::string key(primitive->name());
  key += '(' + primitive->attributes() + ')';
  append_sharding(key, place);
  for (Array& input : placed) {
    const AbstractValue value = input.abstract_value();
    const bool stays = input.is_device() &&
                       (input.sharding().mesh() != nullptr) == (place.mesh() != nullptr) &&
                       input.sharding().devices() == place.devices();
    if (!stays) input = device_put(input, place);
    key += to_string(value);
    append_sharding(key, input.sharding());
  }
  const CompiledProgram program = EagerPrograms::instance().get(key, [&] {
    std::vector<AbstractValue> values;
    CompiledProgramOptions options{.name = std::string(primitive->name())};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      values.push_back(inputs[i].abstract_value());
      options.input_shardings.push_back(placed[i].sharding());
    }
    options.output_shardings = {place};
    return CompiledProgram::compile(
        [&](std::span<const Array> arguments) { return lockstep::apply(primitive, arguments); },
        values, options);
  });
  std::vector<Array> results = program(placed);
  if (!any_committed(inputs)) uncommit(results);
  return results;
}

}  // namespace lockstep
