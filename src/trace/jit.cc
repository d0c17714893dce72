#include "lockstep/trace/jit.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/runtime.h"
#include "lockstep/trace/compiled_program.h"
#include "lockstep/tree/algorithms.h"
#include "trace/commitment.h"
#include "trace/flat.h"

namespace lockstep {
namespace {

// What a call's program depends on.
struct Signature {
  std::vector<TreeStructure> structures;
  std::vector<AbstractValue> values;
  std::vector<Sharding> shardings;
  [[nodiscard]] bool operator==(const Signature&) const = default;
};

std::size_t hash_of(const Signature& signature) {
  std::size_t hash = signature.structures.size();
  const auto mix = [&hash](std::size_t value) {
    hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
  };
  for (const AbstractValue& value : signature.values) {
    mix(static_cast<std::size_t>(value.dtype));
    for (const std::int64_t length : value.shape) mix(static_cast<std::size_t>(length));
  }
  return hash;
}

struct Program {
  Signature signature;
  CompiledProgram compiled;
  TreeStructure result;
};

std::vector<Array> leaves_of(const JitOptions& options, std::span<const Tree> arguments) {
  std::vector<Array> leaves;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for_each_leaf(arguments[i], [&](const KeyPath& path, const Array& leaf) {
      if (leaf.is_null()) {
        throw_value_error(options.name, "argument " + std::to_string(i) +
                                            (path.empty() ? "" : " at '" + to_string(path) + "'") +
                                            " has no value; it was default-constructed and never "
                                            "assigned");
      }
      leaves.push_back(leaf);
    });
  }
  return leaves;
}

// "0/params/w": the argument and the path in it.
std::vector<std::string> leaf_names(std::span<const TreeStructure> structures) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < structures.size(); ++i) {
    for (const KeyPath& path : structures[i].leaf_paths()) {
      names.push_back(std::to_string(i) + (path.empty() ? "" : "/" + to_string(path)));
    }
  }
  return names;
}

// Where leaves without a place go: the mesh or device of those that have one.
Sharding place_of(const JitOptions& options, std::span<const Array> leaves) {
  const Array* placed = nullptr;
  for (const Array& leaf : leaves) {
    if (!leaf.is_committed()) continue;
    if (placed == nullptr || leaf.sharding().mesh() != nullptr) placed = &leaf;
    if (leaf.sharding().mesh() != nullptr) break;
  }
  const Sharding* found = placed != nullptr      ? &placed->sharding()
                          : options.out_sharding ? &*options.out_sharding
                                                 : nullptr;
  if (found == nullptr) return SingleDeviceSharding{default_device()};
  if (const Mesh* mesh = found->mesh()) return NamedSharding{*mesh, {}};
  return *found;
}

}  // namespace

struct CompiledFunction::Impl {
  TreeFunction function;
  JitOptions options;
  mutable std::mutex mutex;
  mutable std::unordered_multimap<std::size_t, std::shared_ptr<const Program>> programs;

  [[nodiscard]] Signature signature_of(std::span<const Tree> arguments,
                                       std::span<const Array> leaves) const;
  [[nodiscard]] CompiledProgramOptions program_options(const Signature& signature) const;
  [[nodiscard]] FlatFunction flat_function(const Signature& signature, TreeStructure& result) const;
  [[nodiscard]] std::shared_ptr<const Program> program_for(const Signature& signature) const;
};

Signature CompiledFunction::Impl::signature_of(std::span<const Tree> arguments,
                                               std::span<const Array> leaves) const {
  Signature signature;
  for (const Tree& argument : arguments) signature.structures.push_back(structure_of(argument));
  const Sharding place = place_of(options, leaves);
  for (const Array& leaf : leaves) {
    signature.values.push_back(leaf.abstract_value());
    const bool stays =
        leaf.is_committed() && (leaf.sharding().mesh() != nullptr || place.mesh() == nullptr ||
                                leaf.sharding().devices() != place.devices());
    signature.shardings.push_back(stays ? leaf.sharding() : place);
  }
  return signature;
}

CompiledProgramOptions CompiledFunction::Impl::program_options(const Signature& signature) const {
  CompiledProgramOptions made{.name = options.name,
                              .input_shardings = signature.shardings,
                              .input_names = leaf_names(signature.structures)};
  if (options.out_sharding) made.output_shardings = {*options.out_sharding};
  for (const std::size_t argnum : options.donate_argnums) {
    if (argnum < signature.structures.size()) continue;
    throw_value_error(options.name, "donate_argnums names argument " + std::to_string(argnum) +
                                        ", but there are " +
                                        std::to_string(signature.structures.size()) +
                                        " (counted from 0)");
  }
  for (std::size_t i = 0; i < signature.structures.size(); ++i) {
    const bool donated = std::find(options.donate_argnums.begin(), options.donate_argnums.end(),
                                   i) != options.donate_argnums.end();
    made.donated.insert(made.donated.end(), signature.structures[i].num_leaves(), donated);
  }
  return made;
}

// The function over flat leaves; tracing it fills `result` with the structure of what it returns.
FlatFunction CompiledFunction::Impl::flat_function(const Signature& signature,
                                                   TreeStructure& result) const {
  return lockstep::flat_function(function, signature.structures, result);
}

std::shared_ptr<const Program> CompiledFunction::Impl::program_for(
    const Signature& signature) const {
  const std::size_t hash = hash_of(signature);
  // Held while compiling, so that threads that want the same program compile it once.
  const std::scoped_lock lock(mutex);
  const auto [begin, end] = programs.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second->signature == signature) return entry->second;
  }
  TreeStructure result;
  CompiledProgram compiled = CompiledProgram::compile(flat_function(signature, result),
                                                      signature.values, program_options(signature));
  auto program = std::make_shared<const Program>(Program{
      .signature = signature, .compiled = std::move(compiled), .result = std::move(result)});
  programs.emplace(hash, program);
  return program;
}

CompiledFunction::CompiledFunction(TreeFunction function, JitOptions options)
    : impl_(std::make_shared<Impl>()) {
  impl_->function = std::move(function);
  impl_->options = std::move(options);
}

Tree CompiledFunction::operator()(std::span<const Tree> arguments) const {
  if (current_graph() != nullptr) return impl_->function(arguments);
  std::vector<Array> leaves = leaves_of(impl_->options, arguments);
  const Signature signature = impl_->signature_of(arguments, leaves);
  const std::shared_ptr<const Program> program = impl_->program_for(signature);
  const bool is_committed = impl_->options.out_sharding.has_value() || any_committed(leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const bool moves = leaves[i].is_host() ||
                       (leaves[i].is_device() && leaves[i].sharding() != signature.shardings[i]);
    if (moves) leaves[i] = device_put(leaves[i], signature.shardings[i]);
  }
  std::vector<Array> results = program->compiled(leaves);
  if (!is_committed) uncommit(results);
  return unflatten(program->result, std::span<const Array>(results));
}

std::string CompiledFunction::lower(std::span<const Tree> arguments) const {
  const Signature signature = impl_->signature_of(arguments, leaves_of(impl_->options, arguments));
  TreeStructure result;
  const RecordedFunction recorded =
      record(impl_->flat_function(signature, result), signature.values);
  return lower_graph(*recorded.graph, recorded.outputs,
                     lowering_options(impl_->program_options(signature), signature.values.size(),
                                      recorded.outputs.size()))
      .text;
}

std::size_t CompiledFunction::cache_size() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->programs.size();
}

}  // namespace lockstep
