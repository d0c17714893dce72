#include "trace/control_flow/scan_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep {
namespace {

const AbstractValue counter_value{.shape = {}, .dtype = DType::Int32};

// Writes one scan. Its state is what changes from step to step: the carries, then the stacks (ys,
// then carries) that are used.
class ScanWriter {
 public:
  ScanWriter(FunctionBuilder& builder, std::span<const std::string> inputs,
             const ScanProgram& program, const std::vector<bool>& used)
      : builder_(builder), inputs_(inputs), p_(program), used_(used) {
    const auto& results = p_.body.results();
    for (std::size_t i = 0; i < p_.num_carry; ++i) state_values_.push_back(results[i]);
    for (std::size_t o = p_.num_carry; o < used.size(); ++o) {
      if (!used[o]) continue;
      stacks_.push_back(o);
      state_values_.push_back(stacked(element_value(o)));
    }
  }

  std::vector<std::string> write() {
    std::vector<std::string> state(inputs_.begin(),
                                   inputs_.begin() + static_cast<std::ptrdiff_t>(p_.num_carry));
    for (const std::size_t o : stacks_) {
      const AbstractValue value = stacked(element_value(o));
      const bool is_bool = value.dtype == DType::Bool;
      state.push_back(builder_.emit_one("stablehlo.constant", {}, {}, value,
                                        fmt::format("value = dense<{}> : {}",
                                                    is_bool                    ? "false"
                                                    : is_complex(value.dtype)  ? "(0.0, 0.0)"
                                                    : is_floating(value.dtype) ? "0.0"
                                                                               : "0",
                                                    mlir_type(value))));
    }
    const std::int64_t unroll = std::max<std::int64_t>(1, std::min(p_.unroll, p_.length));
    const std::int64_t passes = p_.length / unroll;
    if (passes > 1) {
      state = loop(std::move(state), passes, unroll);
    } else {
      for (std::int64_t i = 0; i < passes * unroll; ++i) state = step(state, number(i));
    }
    for (std::int64_t i = passes * unroll; i < p_.length; ++i) state = step(state, number(i));

    std::vector<std::string> outputs(used_.size());
    for (std::size_t c = 0; c < p_.num_carry; ++c) outputs[c] = state[c];
    for (std::size_t s = 0; s < stacks_.size(); ++s) outputs[stacks_[s]] = state[p_.num_carry + s];
    return outputs;
  }

 private:
  AbstractValue stacked(AbstractValue value) const {
    value.shape.insert(value.shape.begin(), p_.length);
    return value;
  }
  // The type of what one step puts into the stack `output`.
  const AbstractValue& element_value(std::size_t output) const {
    const std::size_t num_results = p_.body.results().size();
    return p_.body.results()[output < num_results ? output : output - num_results];
  }
  std::string number(std::int64_t value) {
    return builder_.emit_one("stablehlo.constant", {}, {}, counter_value,
                             fmt::format("value = dense<{}> : tensor<i32>", value));
  }
  std::string arithmetic(std::string_view op, const std::string& a, const std::string& b) {
    return builder_.emit_one(op, std::array{a, b}, std::array{counter_value, counter_value},
                             counter_value);
  }
  std::vector<std::string> indices(const std::string& first, std::size_t ndim) {
    std::vector<std::string> all{first};
    if (ndim > 1) all.resize(ndim, number(0));
    return all;
  }

  // One pass over `unroll` steps at a time. What does not change goes through the loop as well.
  std::vector<std::string> loop(std::vector<std::string> state, std::int64_t passes,
                                std::int64_t unroll) {
    std::vector<std::string> operands{number(0)};
    std::vector<AbstractValue> values{counter_value};
    operands.insert(operands.end(), state.begin(), state.end());
    values.insert(values.end(), state_values_.begin(), state_values_.end());
    const std::size_t num_state = state.size();
    for (std::size_t i = p_.num_carry; i < inputs_.size(); ++i) {
      operands.push_back(inputs_[i]);
      const AbstractValue& value = p_.body.parameters()[i];
      values.push_back(i < p_.num_carry + p_.num_xs ? stacked(value) : value);
    }
    const AbstractValue truth{.shape = {}, .dtype = DType::Bool};
    const std::string condition =
        builder_.region(values, std::span(&truth, 1), [&](std::span<const std::string> names) {
          return std::vector<std::string>{
              builder_.emit_one("stablehlo.compare", std::array{names[0], number(passes)},
                                std::array{counter_value, counter_value}, truth,
                                "comparison_direction = #stablehlo<comparison_direction LT>")};
        });
    const std::span<const std::string> outside = inputs_;
    const std::string body =
        builder_.region(values, values, [&](std::span<const std::string> names) {
          // Inside, the names of what goes through the loop are the block's.
          std::vector<std::string> inside(outside.begin(), outside.end());
          for (std::size_t i = p_.num_carry; i < inside.size(); ++i) {
            inside[i] = names[1 + num_state + i - p_.num_carry];
          }
          inputs_ = inside;
          std::vector<std::string> next(names.begin() + 1,
                                        names.begin() + 1 + static_cast<std::ptrdiff_t>(num_state));
          for (std::int64_t u = 0; u < unroll; ++u) {
            std::string index = names[0];
            if (unroll > 1) {
              index = arithmetic("stablehlo.multiply", index, number(unroll));
              if (u > 0) index = arithmetic("stablehlo.add", index, number(u));
            }
            next = step(next, index);
          }
          inputs_ = outside;
          std::vector<std::string> results{arithmetic("stablehlo.add", names[0], number(1))};
          results.insert(results.end(), next.begin(), next.end());
          results.insert(results.end(), names.begin() + 1 + static_cast<std::ptrdiff_t>(num_state),
                         names.end());
          return results;
        });
    const std::vector<std::string> found =
        builder_.emit("stablehlo.while", operands, values, values, {}, std::array{condition, body});
    return {found.begin() + 1, found.begin() + 1 + static_cast<std::ptrdiff_t>(num_state)};
  }

  // Step `index` (counted in the order of running): the state after it.
  std::vector<std::string> step(const std::vector<std::string>& state, const std::string& index) {
    std::string place = index;
    if (p_.reverse) place = arithmetic("stablehlo.subtract", number(p_.length - 1), index);
    std::vector<std::string> arguments(state.begin(),
                                       state.begin() + static_cast<std::ptrdiff_t>(p_.num_carry));
    for (std::size_t i = p_.num_carry; i < p_.num_carry + p_.num_xs; ++i) {
      arguments.push_back(element(inputs_[i], p_.body.parameters()[i], place));
    }
    for (std::size_t i = p_.num_carry + p_.num_xs; i < inputs_.size(); ++i) {
      arguments.push_back(inputs_[i]);
    }
    const std::vector<std::string> results = p_.body.emit(builder_, arguments);
    std::vector<std::string> next(results.begin(),
                                  results.begin() + static_cast<std::ptrdiff_t>(p_.num_carry));
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      const std::size_t o = stacks_[s];
      const std::string& value = o < results.size() ? results[o] : state[o - results.size()];
      next.push_back(put(state[p_.num_carry + s], value, element_value(o), place));
    }
    return next;
  }

  std::string element(const std::string& stack, const AbstractValue& value,
                      const std::string& place) {
    AbstractValue row = value;
    row.shape.insert(row.shape.begin(), 1);
    const std::vector<std::string> starts = indices(place, row.shape.size());
    std::vector<std::string> operands{stack};
    operands.insert(operands.end(), starts.begin(), starts.end());
    std::vector<AbstractValue> values(operands.size(), counter_value);
    values[0] = stacked(value);
    const std::string taken = builder_.emit_one("stablehlo.dynamic_slice", operands, values, row,
                                                "slice_sizes = " + dense_i64(row.shape));
    return builder_.emit_one("stablehlo.reshape", std::array{taken}, std::array{row}, value);
  }

  std::string put(const std::string& stack, const std::string& element, const AbstractValue& value,
                  const std::string& place) {
    AbstractValue row = value;
    row.shape.insert(row.shape.begin(), 1);
    const std::string update =
        builder_.emit_one("stablehlo.reshape", std::array{element}, std::array{value}, row);
    const std::vector<std::string> starts = indices(place, row.shape.size());
    std::vector<std::string> operands{stack, update};
    operands.insert(operands.end(), starts.begin(), starts.end());
    std::vector<AbstractValue> values(operands.size(), counter_value);
    values[0] = stacked(value);
    values[1] = row;
    return builder_.emit_one("stablehlo.dynamic_update_slice", operands, values, values[0]);
  }

  FunctionBuilder& builder_;
  std::span<const std::string> inputs_;
  const ScanProgram& p_;
  const std::vector<bool>& used_;
  std::vector<std::size_t> stacks_;  // the outputs that are stacked and used
  std::vector<AbstractValue> state_values_;
};

}  // namespace

std::vector<std::string> lower_scan(FunctionBuilder& builder, std::span<const std::string> inputs,
                                    const ScanProgram& program, const std::vector<bool>& used) {
  return ScanWriter(builder, inputs, program, used).write();
}

}  // namespace lockstep
