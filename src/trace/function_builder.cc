#include "lockstep/trace/function_builder.h"

#include <algorithm>
#include <utility>

#include "trace/constant_text.h"

namespace lockstep {
namespace {

// "(tensor<2xf32>, tensor<f32>)".
std::string type_list(std::span<const AbstractValue> values) {
  std::string text = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    text += mlir_type(values[i]);
  }
  return text + ")";
}

}  // namespace

std::string mlir_type(const AbstractValue& value) {
  std::string text = "tensor<";
  for (const std::int64_t length : value.shape) text += std::to_string(length) + "x";
  text += mlir_name(value.dtype);
  return text + ">";
}

std::string dense_i64(std::span<const std::int64_t> values) {
  std::string text = "array<i64";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? ": " : ", ") + std::to_string(values[i]);
  }
  return text + ">";
}

void ModuleBuilder::add_function(const std::string& name, std::string text) {
  if (!has_function(name)) functions_.emplace_back(name, std::move(text));
}

bool ModuleBuilder::has_function(const std::string& name) const {
  return std::any_of(functions_.begin(), functions_.end(),
                     [&](const auto& function) { return function.first == name; });
}

std::string ModuleBuilder::text(std::string_view module_name, std::string_view header_lines) const {
  std::string text = "module @" + std::string(module_name) + " {\n";
  text += header_lines;
  for (const auto& [name, function] : functions_) {
    text += function;
    if (!function.empty() && function.back() != '\n') text += '\n';
  }
  return text + "}\n";
}

std::string FunctionBuilder::new_value() {
  return "%" + std::to_string(next_value_++);
}

std::vector<std::string> FunctionBuilder::emit(std::string_view op,
                                               std::span<const std::string> operands,
                                               std::span<const AbstractValue> operand_values,
                                               std::span<const AbstractValue> result_values,
                                               std::string_view attributes,
                                               std::span<const std::string> regions) {
  std::vector<std::string> results;
  body_ += "    ";
  if (!result_values.empty()) {
    const std::string name = new_value();
    body_ += name;
    if (result_values.size() == 1) {
      results.push_back(name);
    } else {
      body_ += ":" + std::to_string(result_values.size());
      for (std::size_t i = 0; i < result_values.size(); ++i) {
        results.push_back(name + "#" + std::to_string(i));
      }
    }
    body_ += " = ";
  }
  body_ += '"';
  body_ += op;
  body_ += "\"(";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) body_ += ", ";
    body_ += operands[i];
  }
  body_ += ')';
  if (!attributes.empty()) {
    body_ += " <{";
    body_ += attributes;
    body_ += "}>";
  }
  if (!regions.empty()) {
    body_ += " (";
    for (std::size_t i = 0; i < regions.size(); ++i) {
      body_ += i > 0 ? ", {\n" : "{\n";
      body_ += regions[i];
      if (!regions[i].empty() && regions[i].back() != '\n') body_ += '\n';
      body_ += "    }";
    }
    body_ += ')';
  }
  body_ += " : " + type_list(operand_values) + " -> ";
  body_ += result_values.size() == 1 ? mlir_type(result_values[0]) : type_list(result_values);
  body_ += '\n';
  return results;
}

std::string FunctionBuilder::emit_one(std::string_view op, std::span<const std::string> operands,
                                      std::span<const AbstractValue> operand_values,
                                      const AbstractValue& result_value,
                                      std::string_view attributes,
                                      std::span<const std::string> regions) {
  return emit(op, operands, operand_values, std::span(&result_value, 1), attributes, regions)
      .front();
}

std::string FunctionBuilder::constant(const AbstractValue& value, double splat) {
  const std::string attributes =
      "value = dense<" + element_text(value.dtype, splat) + "> : " + mlir_type(value);
  return emit_one("stablehlo.constant", {}, {}, value, attributes);
}

std::string FunctionBuilder::region(std::span<const AbstractValue> arguments,
                                    std::span<const AbstractValue> results, const Block& block) {
  std::string outside = std::exchange(body_, {});
  std::vector<std::string> names;
  std::string header;
  for (const AbstractValue& argument : arguments) {
    names.push_back(new_value());
    header += (header.empty() ? "    ^bb0(" : ", ") + names.back() + ": " + mlir_type(argument);
  }
  if (!header.empty()) header += "):\n";
  std::string returned;
  for (const std::string& name : block(names)) returned += (returned.empty() ? "" : ", ") + name;
  append_line("\"stablehlo.return\"(" + returned + ") : " + type_list(results) + " -> ()");
  return header + std::exchange(body_, std::move(outside));
}

void FunctionBuilder::append_line(std::string_view line) {
  body_ += "    ";
  body_ += line;
  body_ += '\n';
}

}  // namespace lockstep
