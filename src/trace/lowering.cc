#include "lockstep/trace/lowering.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/primitive.h"
#include "trace/constant_text.h"

namespace lockstep {
namespace {

// Constants up to this many bytes are printed; larger ones become hidden parameters.
constexpr std::size_t max_printed_bytes = 2048;

// Whether a graph constant is printed in the module. Fills `tensor` with its elements if so.
bool is_printed(const Array& constant, HostTensor& tensor) {
  if (constant.is_traced()) {
    throw_value_error("lower", "the function uses a value of an enclosing trace (type " +
                                   to_string(constant.abstract_value()) +
                                   "); pass it as an argument, or lower outside that trace");
  }
  const std::size_t bytes = static_cast<std::size_t>(constant.size()) * byte_size(constant.dtype());
  if (bytes > max_printed_bytes && !constant.is_host()) return false;
  tensor = constant.to_host();
  return bytes <= max_printed_bytes || is_splat(tensor);
}

std::string mesh_line(const Mesh& mesh) {
  std::string axes;
  for (std::size_t i = 0; i < mesh.axis_names().size(); ++i) {
    axes +=
        fmt::format("{}\"{}\"={}", i == 0 ? "" : ", ", mesh.axis_names()[i], mesh.axis_sizes()[i]);
  }
  return "  sdy.mesh @mesh = <[" + axes + "]>\n";
}

// A module's name may hold letters, digits and underscores.
std::string symbol_name(std::string_view name) {
  std::string symbol;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    symbol += plain ? c : '_';
  }
  if (symbol.empty() || (symbol[0] >= '0' && symbol[0] <= '9')) symbol.insert(0, "_");
  return symbol;
}

const PartitionSpec& spec_at(const std::vector<PartitionSpec>& specs, std::size_t index) {
  static const PartitionSpec replicated;
  return index < specs.size() ? specs[index] : replicated;
}

// Specs are compared without the unsplit dimensions at their end.
bool same_spec(PartitionSpec a, PartitionSpec b) {
  while (!a.empty() && a.back().empty()) a.pop_back();
  while (!b.empty() && b.back().empty()) b.pop_back();
  return a == b;
}

std::vector<std::int64_t> alias_outputs(const LoweredModule& module,
                                        const LoweringOptions& options) {
  std::vector<std::int64_t> aliases(module.parameters.size(), -1);
  std::vector<bool> taken(module.outputs.size(), false);
  for (std::size_t i = 0; i < module.parameters.size(); ++i) {
    if (i >= options.donated.size() || !options.donated[i]) continue;
    for (std::size_t o = 0; o < module.outputs.size(); ++o) {
      if (taken[o] || module.outputs[o].dtype != module.parameters[i].dtype ||
          module.outputs[o].shape != module.parameters[i].shape ||
          !same_spec(spec_at(options.output_specs, o), spec_at(options.parameter_specs, i))) {
        continue;
      }
      aliases[i] = static_cast<std::int64_t>(o);
      taken[o] = true;
      break;
    }
  }
  return aliases;
}

}  // namespace

std::string sharding_text(const PartitionSpec& spec, std::size_t ndim) {
  std::string text = "#sdy.sharding<@mesh, [";
  for (std::size_t d = 0; d < ndim; ++d) {
    text += d == 0 ? "{" : ", {";
    if (d < spec.size()) {
      for (std::size_t a = 0; a < spec[d].size(); ++a) {
        text += (a == 0 ? "\"" : ", \"") + spec[d][a] + "\"";
      }
    }
    text += '}';
  }
  return text + "]>";
}

std::vector<bool> live_nodes(const Graph& graph, std::span<const ValueId> outputs) {
  std::vector<bool> live(graph.nodes().size(), false);
  const auto mark = [&](ValueId id) {
    const ValueInfo& info = graph.value(id);
    if (info.source == ValueInfo::Source::Node) live[info.index] = true;
  };
  for (const ValueId output : outputs) mark(output);
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    if (!live[i]) continue;
    for (const ValueId input : graph.nodes()[i].inputs) mark(input);
  }
  return live;
}

std::vector<bool> used_values(const Graph& graph, std::span<const ValueId> outputs,
                              const std::vector<bool>& live) {
  std::vector<bool> used(graph.num_values(), false);
  for (const ValueId output : outputs) used[output] = true;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    for (const ValueId input : graph.nodes()[i].inputs) used[input] = true;
  }
  return used;
}

std::string emit_constant(FunctionBuilder& builder, const HostTensor& tensor) {
  const AbstractValue value{.shape = tensor.shape(), .dtype = tensor.dtype()};
  return builder.emit_one("stablehlo.constant", {}, {}, value,
                          "value = " + dense_text(tensor) + " : " + mlir_type(value));
}

std::vector<std::string> lower_nodes(const Graph& graph, std::span<const ValueId> outputs,
                                     FunctionBuilder& builder,
                                     std::span<const std::string> parameters,
                                     std::span<const std::string> constants) {
  std::vector<std::string> names(graph.num_values());
  for (ValueId id = 0; id < graph.num_values(); ++id) {
    const ValueInfo& info = graph.value(id);
    if (info.source == ValueInfo::Source::Parameter) names[id] = parameters[info.index];
    if (info.source == ValueInfo::Source::Constant) names[id] = constants[info.index];
  }
  const std::vector<bool> live = live_nodes(graph, outputs);
  const std::vector<bool> used = used_values(graph, outputs, live);
  std::vector<bool> outputs_used;
  std::vector<std::string> operands;
  std::vector<AbstractValue> operand_values;
  std::vector<AbstractValue> output_values;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!live[i]) continue;
    const Node& node = graph.nodes()[i];
    operands.clear();
    operand_values.clear();
    output_values.clear();
    for (const ValueId input : node.inputs) {
      operands.push_back(names[input]);
      operand_values.push_back(graph.value(input).abstract_value);
    }
    outputs_used.clear();
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      output_values.push_back(graph.value(node.first_output + o).abstract_value);
      outputs_used.push_back(used[node.first_output + o]);
    }
    std::vector<std::string> results =
        node.primitive->lower_used(builder, operands, operand_values, output_values, outputs_used);
    for (std::uint32_t o = 0; o < node.num_outputs; ++o) {
      names[node.first_output + o] = std::move(results[o]);
    }
  }
  std::vector<std::string> results;
  results.reserve(outputs.size());
  for (const ValueId output : outputs) results.push_back(names[output]);
  return results;
}

LoweredModule lower_graph(const Graph& graph, std::span<const ValueId> outputs,
                          const LoweringOptions& options) {
  LoweredModule module;
  for (const ValueId id : graph.parameters()) {
    module.parameters.push_back(graph.value(id).abstract_value);
  }
  for (const ValueId id : outputs) module.outputs.push_back(graph.value(id).abstract_value);
  module.aliased_output = alias_outputs(module, options);

  ModuleBuilder module_builder;
  FunctionBuilder builder(module_builder);
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < module.parameters.size(); ++i) {
    parameters.push_back("%arg" + std::to_string(i));
  }

  // Only constants that live nodes or outputs use are printed or hoisted.
  std::vector<bool> used(graph.constants().size(), false);
  const auto use = [&](ValueId id) {
    const ValueInfo& info = graph.value(id);
    if (info.source == ValueInfo::Source::Constant) used[info.index] = true;
  };
  const std::vector<bool> live = live_nodes(graph, outputs);
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    for (const ValueId input : graph.nodes()[i].inputs) use(input);
  }
  for (const ValueId id : outputs) use(id);

  std::vector<std::string> constants(graph.constants().size());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    if (!used[i]) continue;
    const Array& constant = graph.constants()[i];
    HostTensor tensor;
    if (is_printed(constant, tensor)) {
      constants[i] = emit_constant(builder, tensor);
    } else {
      constants[i] = "%arg" + std::to_string(parameters.size() + module.hoisted_constants.size());
      module.hoisted_constants.push_back(constant);
    }
  }
  const std::vector<std::string> results =
      lower_nodes(graph, outputs, builder, parameters, constants);

  const auto sharding_attribute = [&](const PartitionSpec& spec, const AbstractValue& value) {
    return "sdy.sharding = " + sharding_text(spec, value.shape.size());
  };
  std::string main = "  func.func public @main(";
  const std::size_t num_arguments = module.parameters.size() + module.hoisted_constants.size();
  for (std::size_t i = 0; i < num_arguments; ++i) {
    const bool hoisted = i >= module.parameters.size();
    const AbstractValue& value =
        hoisted ? module.hoisted_constants[i - module.parameters.size()].abstract_value()
                : module.parameters[i];
    main += fmt::format("{}%arg{}: {}", i == 0 ? "" : ", ", i, mlir_type(value));
    std::string attributes;
    if (options.mesh) {
      attributes = sharding_attribute(
          hoisted ? PartitionSpec{} : spec_at(options.parameter_specs, i), value);
    }
    if (!hoisted && i < options.donated.size() && options.donated[i]) {
      if (!attributes.empty()) attributes += ", ";
      attributes += module.aliased_output[i] >= 0
                        ? fmt::format("tf.aliasing_output = {} : i32", module.aliased_output[i])
                        : "jax.buffer_donor = true";
    }
    if (!attributes.empty()) main += " {" + attributes + "}";
  }
  main += ") -> (";
  std::string result_types;
  for (std::size_t i = 0; i < module.outputs.size(); ++i) {
    const std::string type = mlir_type(module.outputs[i]);
    main += (i == 0 ? "" : ", ") + type;
    if (options.mesh) {
      main += " {" + sharding_attribute(spec_at(options.output_specs, i), module.outputs[i]) + "}";
    }
    result_types += (i == 0 ? "" : ", ") + type;
  }
  main += ") {\n" + builder.body() + "    return";
  for (std::size_t i = 0; i < results.size(); ++i) main += (i == 0 ? " " : ", ") + results[i];
  if (!results.empty()) main += " : " + result_types;
  main += "\n  }\n";
  module_builder.add_function("main", std::move(main));
  module.text = module_builder.text(symbol_name(options.name),
                                    options.mesh ? mesh_line(*options.mesh) : std::string());
  return module;
}

}  // namespace lockstep
