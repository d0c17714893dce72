#include "lockstep/train/step.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/compiled_program.h"
#include "train/tree_leaves.h"

namespace lockstep {
namespace {

AbstractValue strong_type(const Array& array) {
  AbstractValue value = array.abstract_value();
  value.weak_type = false;  // an argument has a type of its own, wherever it came from
  return value;
}

std::vector<AbstractValue> types_of(const std::vector<Array>& leaves) {
  std::vector<AbstractValue> types;
  types.reserve(leaves.size());
  for (const Array& leaf : leaves) types.push_back(strong_type(leaf));
  return types;
}

bool same_types(const std::vector<AbstractValue>& types, const std::vector<Array>& leaves) {
  if (types.size() != leaves.size()) return false;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const AbstractValue& found = leaves[i].abstract_value();
    if (found.dtype != types[i].dtype || found.shape != types[i].shape) return false;
  }
  return true;
}

std::string leaf_name(std::string_view root, const KeyPath& path) {
  return path.empty() ? std::string(root) : fmt::format("{}/{}", root, to_string(path));
}

void check_no_null_leaves(const std::string& where, std::string_view root, const Tree& tree) {
  for_each_leaf(tree, [&](const KeyPath& path, const Array& leaf) {
    if (!leaf.is_null()) return;
    throw_value_error(where,
                      fmt::format("the leaf '{}' is an Array that was never assigned; give it "
                                  "a value, or use None for an empty place",
                                  leaf_name(root, path)));
  });
}

}  // namespace

struct CompiledStep::Impl {
  struct Program {
    CompiledProgram program;
    TreeStructure batch_structure;
    std::vector<AbstractValue> batch_types;
    std::size_t num_metrics = 0;
  };

  StepFunction step;
  bool is_evaluation = false;
  std::shared_ptr<const Strategy> strategy;
  std::string name;

  // Of the state and the batch last compiled for.
  TreeStructure state_structure;
  std::vector<AbstractValue> state_types;
  TreeStructure batch_structure;
  TreeStructure metric_structure;
  std::vector<std::string> metric_names;
  std::vector<Program> programs;
  std::size_t current = 0;
  std::size_t num_programs = 0;
  double compile_seconds = 0;

  // Kept between runs, so that a run allocates only its results.
  std::vector<Array> inputs;
  std::vector<Array> outputs;

  [[nodiscard]] std::size_t num_state_outputs() const {
    return is_evaluation ? 0 : state_types.size();
  }
  [[nodiscard]] bool select_program(const std::vector<Array>& batch);
  [[nodiscard]] std::vector<Array> trace(std::span<const Array> arguments);
  void check_state_output(const Tree& next) const;
  void describe_metrics(const Tree& metrics);
  void add_program(const std::vector<Array>& batch);
};

// Makes the program for this batch the current one, if there is one.
bool CompiledStep::Impl::select_program(const std::vector<Array>& batch) {
  if (current < programs.size() && programs[current].batch_structure == batch_structure &&
      same_types(programs[current].batch_types, batch)) {
    return true;
  }
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (programs[i].batch_structure == batch_structure &&
        same_types(programs[i].batch_types, batch)) {
      current = i;
      return true;
    }
  }
  return false;
}

void CompiledStep::Impl::check_state_output(const Tree& next) const {
  check_same_structure(name + ": the state that the step returned", state_structure,
                       structure_of(next));
  std::size_t index = 0;
  for_each_leaf(next, [&](const KeyPath& path, const Array& leaf) {
    const AbstractValue& expected = state_types[index++];
    if (!leaf.is_null() && leaf.dtype() == expected.dtype && leaf.shape() == expected.shape) return;
    throw_value_error(
        name,
        fmt::format("the step must return a state of the types it was given, but the leaf '{}' "
                    "came in as {} and goes out as {}; {}",
                    to_string(path), to_string(expected),
                    leaf.is_null() ? "an unassigned Array" : to_string(strong_type(leaf)),
                    !leaf.is_null() && leaf.shape() == expected.shape
                        ? "cast it back in the step, or start with that type"
                        : "a reduction or broadcast in the step has changed its shape"));
  });
}

void CompiledStep::Impl::describe_metrics(const Tree& metrics) {
  std::vector<std::string> names;
  for_each_leaf(metrics, [&](const KeyPath& path, const Array& leaf) {
    names.push_back(path.empty() ? "metric" : to_string(path));
    if (!leaf.is_null() && leaf.ndim() == 0 && !is_complex(leaf.dtype())) return;
    throw_value_error(name, fmt::format("the metric '{}' is {}, but a metric is one real number; "
                                        "reduce it with mean, sum or max",
                                        names.back(),
                                        leaf.is_null() ? "an unassigned Array"
                                                       : to_string(leaf.abstract_value())));
  });
  metric_names = std::move(names);
  metric_structure = structure_of(metrics);
}

std::vector<Array> CompiledStep::Impl::trace(std::span<const Array> arguments) {
  const std::size_t num_state = state_types.size();
  const Tree state = unflatten<Array>(state_structure, arguments.first(num_state));
  const Tree batch = unflatten<Array>(batch_structure, arguments.subspan(num_state));
  const StepOutput output = step(state, batch);
  if (!is_evaluation) check_state_output(output.state);
  describe_metrics(output.metrics);
  std::vector<Array> results;
  if (!is_evaluation) append_leaves(output.state, results);
  append_leaves(output.metrics, results);
  if (results.empty()) {
    throw_value_error(name,
                      "the step returns neither a state nor a metric; there is nothing to "
                      "compute");
  }
  return results;
}

void CompiledStep::Impl::add_program(const std::vector<Array>& batch) {
  const auto start = std::chrono::steady_clock::now();
  CompiledProgramOptions options{.name = name};
  const Sharding state_sharding = strategy->state_sharding();
  for (const KeyPath& path : state_structure.leaf_paths()) {
    options.input_shardings.push_back(state_sharding);
    options.donated.push_back(!is_evaluation);
    options.input_names.push_back(leaf_name("state", path));
  }
  const std::vector<KeyPath> batch_paths = batch_structure.leaf_paths();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    options.input_shardings.push_back(strategy->batch_sharding(batch[i].ndim()));
    options.donated.push_back(false);
    options.input_names.push_back(leaf_name("batch", batch_paths[i]));
  }
  options.output_shardings = {state_sharding};

  std::vector<AbstractValue> types = state_types;
  const std::vector<AbstractValue> batch_types = types_of(batch);
  types.insert(types.end(), batch_types.begin(), batch_types.end());
  CompiledProgram program = CompiledProgram::compile(
      [this](std::span<const Array> arguments) { return trace(arguments); }, types, options);
  programs.push_back(
      {std::move(program), batch_structure, batch_types, metric_structure.num_leaves()});
  current = programs.size() - 1;
  ++num_programs;
  compile_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

CompiledStep::CompiledStep(StepFunction step, std::shared_ptr<const Strategy> strategy,
                           std::string name)
    : impl_(std::make_unique<Impl>()) {
  if (!step) throw_value_error(name, "the step is an empty function");
  if (!strategy) throw_value_error(name, "the strategy is null; make one with create_strategy");
  impl_->step = std::move(step);
  impl_->strategy = std::move(strategy);
  impl_->name = std::move(name);
}

CompiledStep CompiledStep::evaluation(EvalFunction step, std::shared_ptr<const Strategy> strategy,
                                      std::string name) {
  if (!step) throw_value_error(name, "the step is an empty function");
  CompiledStep compiled(
      [step = std::move(step)](const Tree& state, const Tree& batch) {
        return StepOutput{.state = {}, .metrics = step(state, batch)};
      },
      std::move(strategy), std::move(name));
  compiled.impl_->is_evaluation = true;
  return compiled;
}

CompiledStep::~CompiledStep() = default;
CompiledStep::CompiledStep(CompiledStep&&) noexcept = default;
CompiledStep& CompiledStep::operator=(CompiledStep&&) noexcept = default;

void CompiledStep::compile(const Tree& state, const Tree& batch) {
  Impl& impl = *impl_;
  check_no_null_leaves(impl.name, "state", state);
  check_no_null_leaves(impl.name, "batch", batch);
  const std::vector<Array> state_leaves = flatten(state);
  TreeStructure state_structure = structure_of(state);
  if (state_structure != impl.state_structure || !same_types(impl.state_types, state_leaves)) {
    impl.programs.clear();  // they are for a state of another kind
    impl.state_structure = std::move(state_structure);
    impl.state_types = types_of(state_leaves);
  }
  impl.batch_structure = structure_of(batch);
  const std::vector<Array> batch_leaves = flatten(batch);
  if (!impl.select_program(batch_leaves)) impl.add_program(batch_leaves);
}

void CompiledStep::run(std::vector<Array>& state, const std::vector<Array>& batch,
                       std::vector<Array>& metrics) {
  Impl& impl = *impl_;
  if (!impl.select_program(batch)) impl.add_program(batch);
  const Impl::Program& program = impl.programs[impl.current];
  const std::size_t num_state = impl.state_types.size();
  impl.inputs.resize(num_state + batch.size());
  impl.outputs.resize(program.program.num_outputs());
  for (std::size_t i = 0; i < num_state; ++i) impl.inputs[i] = state[i];
  for (std::size_t i = 0; i < batch.size(); ++i) impl.inputs[num_state + i] = batch[i];

  // Nothing but the caller may keep arrays of this run alive.
  const auto forget = [](Impl* held) {
    for (Array& array : held->inputs) array = Array();
    for (Array& array : held->outputs) array = Array();
  };
  const std::unique_ptr<Impl, decltype(forget)> cleaner(&impl, forget);
  program.program.run(impl.inputs, impl.outputs);

  const std::size_t num_state_outputs = impl.num_state_outputs();
  for (std::size_t i = 0; i < num_state_outputs; ++i) state[i] = std::move(impl.outputs[i]);
  metrics.resize(program.num_metrics);
  for (std::size_t i = 0; i < program.num_metrics; ++i) {
    metrics[i] = std::move(impl.outputs[num_state_outputs + i]);
  }
}

StepOutput CompiledStep::operator()(const Tree& state, const Tree& batch) {
  Impl& impl = *impl_;
  check_no_null_leaves(impl.name, "state", state);
  check_no_null_leaves(impl.name, "batch", batch);
  for_each_leaf(state, [&](const KeyPath& path, const Array& leaf) {
    if (!leaf.is_deleted()) return;
    throw_value_error(impl.name,
                      fmt::format("argument '{}' ({}) is already donated: an earlier step took its "
                                  "memory over; use the state which that step returned",
                                  leaf_name("state", path), to_string(leaf.abstract_value())));
  });
  const Tree placed_state = impl.strategy->place_state(state);
  const Tree placed_batch = impl.strategy->place_batch(batch);
  compile(placed_state, placed_batch);
  std::vector<Array> state_leaves = flatten(placed_state);
  std::vector<Array> metric_leaves;
  run(state_leaves, flatten(placed_batch), metric_leaves);
  return {.state = unflatten(impl.state_structure, state_leaves),
          .metrics = unflatten(impl.metric_structure, metric_leaves)};
}

const std::vector<std::string>& CompiledStep::metric_names() const {
  return impl_->metric_names;
}
const TreeStructure& CompiledStep::state_structure() const {
  return impl_->state_structure;
}
const TreeStructure& CompiledStep::batch_structure() const {
  return impl_->batch_structure;
}
std::size_t CompiledStep::num_programs() const {
  return impl_->num_programs;
}
double CompiledStep::compile_seconds() const {
  return impl_->compile_seconds;
}

const std::string& CompiledStep::text() const {
  if (impl_->programs.empty()) {
    throw_value_error(impl_->name, "nothing is compiled yet; call compile first");
  }
  return impl_->programs[impl_->current].program.module_text();
}

}  // namespace lockstep
