#pragma once
/// Printing StableHLO: one function at a time, in MLIR's generic form (one code path for every op).
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/array/abstract_value.h"

namespace lockstep {

/// "tensor<8x3xf32>".
[[nodiscard]] std::string mlir_type(const AbstractValue& value);

/// Collects the functions of one module; helper functions (say threefry) are emitted once and
/// called.
class ModuleBuilder {
 public:
  /// Adds a private function under `name` unless it is there already.
  void add_function(const std::string& name, std::string text);
  [[nodiscard]] bool has_function(const std::string& name) const;
  /// The module's text: header lines (meshes), then the functions.
  [[nodiscard]] std::string text(std::string_view module_name, std::string_view header_lines) const;

 private:
  std::vector<std::pair<std::string, std::string>> functions_;
};

/// Emits the body of one function.
class FunctionBuilder {
 public:
  explicit FunctionBuilder(ModuleBuilder& module) : module_(module) {}

  [[nodiscard]] ModuleBuilder& module() { return module_; }
  /// A fresh SSA name.
  [[nodiscard]] std::string new_value();

  /// Emits `%r = "op"(operands) <{attributes}> ({regions}) : (types) -> types`; returns the SSA
  /// names of the results. `attributes` is the text between the braces, empty for none.
  std::vector<std::string> emit(std::string_view op, std::span<const std::string> operands,
                                std::span<const AbstractValue> operand_values,
                                std::span<const AbstractValue> result_values,
                                std::string_view attributes = {},
                                std::span<const std::string> regions = {});
  /// The same for one result.
  std::string emit_one(std::string_view op, std::span<const std::string> operands,
                       std::span<const AbstractValue> operand_values,
                       const AbstractValue& result_value, std::string_view attributes = {},
                       std::span<const std::string> regions = {});
  /// A constant filled with one value (a splat). Non-finite values are printed as hex bits.
  std::string constant(const AbstractValue& value, double splat);

  /// The block of a region: what it gets are the SSA names of its arguments; it returns those of
  /// its results.
  using Block = std::function<std::vector<std::string>(std::span<const std::string>)>;
  /// The text of a region of one block, which may use values from outside. Emit it with the next
  /// emit().
  [[nodiscard]] std::string region(std::span<const AbstractValue> arguments,
                                   std::span<const AbstractValue> results, const Block& block);

  [[nodiscard]] const std::string& body() const { return body_; }
  void append_line(std::string_view line);

 private:
  ModuleBuilder& module_;
  std::string body_;
  std::int64_t next_value_ = 0;
};

/// "array<i64: 1, 2>", MLIR's DenseI64ArrayAttr.
[[nodiscard]] std::string dense_i64(std::span<const std::int64_t> values);

}  // namespace lockstep
