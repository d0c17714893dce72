#pragma once
// Bodies: functions recorded for primitives that run them (loops, branches, rematerialised parts).
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/trace/function_builder.h"
#include "lockstep/trace/record.h"

namespace lockstep {

// A recorded function that uses nothing but its parameters and small constants.
class Body {
 public:
  explicit Body(RecordedFunction function);

  [[nodiscard]] const RecordedFunction& function() const { return function_; }
  [[nodiscard]] const std::vector<AbstractValue>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<AbstractValue>& results() const { return results_; }

  // Its ops, applied in the current trace or run.
  [[nodiscard]] std::vector<Array> operator()(std::span<const Array> arguments) const;
  // Emits its ops; returns the SSA names of its results.
  [[nodiscard]] std::vector<std::string> emit(FunctionBuilder& builder,
                                              std::span<const std::string> arguments) const;
  // Its program: equal bodies have equal text.
  [[nodiscard]] std::string text() const;

 private:
  RecordedFunction function_;
  std::vector<AbstractValue> parameters_;
  std::vector<AbstractValue> results_;
};

using BodyPtr = std::shared_ptr<const Body>;

// A body and the values around it that it uses: its parameters are the function's arguments, then
// the captures.
struct ClosedFunction {
  BodyPtr body;
  std::vector<Array> captures;
};

// Records `function` and makes parameters of what it captures.
ClosedFunction close_over(const FlatFunction& function, std::span<const AbstractValue> arguments);

}  // namespace lockstep
