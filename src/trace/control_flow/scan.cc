// scan: a loop of known length. Its derivatives are scans too: forward in the same direction,
// backward in the other one, each step computed again from the carry that went into it.
#include "trace/control_flow/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/graph.h"
#include "lockstep/trace/primitive.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batch.h"
#include "trace/batching.h"
#include "trace/control_flow/body.h"
#include "trace/control_flow/scan_lowering.h"
#include "trace/differentiation.h"
#include "trace/flat.h"
#include "trace/rule_support.h"
#include "trace/stretch.h"

namespace lockstep {
namespace {

// The places in `values` whose types have derivatives.
std::vector<std::size_t> differentiable(std::span<const AbstractValue> values) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_differentiable(values[i].dtype)) places.push_back(i);
  }
  return places;
}

Array or_zeros(const Array& array, const AbstractValue& value) {
  return array.is_null() ? zeros(value.shape, value.dtype) : array;
}

class Scan final : public Primitive {
 public:
  // The body's parameters are carries, one element of each x, captures.
  Scan(BodyPtr body, std::size_t num_carry, std::size_t num_xs, ScanLoop loop)
      : body_(std::move(body)), num_carry_(num_carry), num_xs_(num_xs), loop_(loop) {}

  std::string_view name() const override { return "scan"; }
  std::string attributes() const override {
    return fmt::format(
        "length = {}, reverse = {}, unroll = {}, num_carry = {}, num_xs = {}, stacks_carries = {}, "
        "body = {{\n{}}}",
        loop_.length, loop_.reverse, loop_.unroll, num_carry_, num_xs_, stacks(), body_->text());
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, body_->parameters().size());
    std::vector<AbstractValue> outputs;
    const auto& results = body_->results();
    for (std::size_t i = 0; i < results.size(); ++i) {
      outputs.push_back(i < num_carry_ ? results[i] : stacked(results[i]));
    }
    if (stacks()) {
      for (std::size_t i = 0; i < num_carry_; ++i) outputs.push_back(stacked(results[i]));
    }
    return outputs;
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return lower_used(builder, inputs, input_values, output_values,
                      std::vector<bool>(output_values.size(), true));
  }
  std::vector<std::string> lower_used(FunctionBuilder& builder, std::span<const std::string> inputs,
                                      std::span<const AbstractValue>,
                                      std::span<const AbstractValue>,
                                      const std::vector<bool>& used) const override {
    return lower_scan(builder, inputs,
                      {.body = *body_,
                       .num_carry = num_carry_,
                       .num_xs = num_xs_,
                       .length = loop_.length,
                       .reverse = loop_.reverse,
                       .unroll = loop_.unroll,
                       .stacks_carries = stacks()},
                      used);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override;
  std::vector<Array> jvp(const JvpRequest& request) const override;
  std::vector<Array> batch(const BatchRequest& request) const override;

 private:
  bool stacks() const { return loop_.stacks_carries.value_or(false); }
  std::size_t num_ys() const { return body_->results().size() - num_carry_; }
  AbstractValue stacked(AbstractValue value) const {
    value.shape.insert(value.shape.begin(), loop_.length);
    return value;
  }
  std::span<const AbstractValue> carry_values() const {
    return std::span(body_->results()).first(num_carry_);
  }
  std::span<const AbstractValue> y_values() const {
    return std::span(body_->results()).subspan(num_carry_);
  }
  std::vector<bool> fixed_point(const std::vector<bool>& batched, std::int64_t size) const;

  BodyPtr body_;
  std::size_t num_carry_;
  std::size_t num_xs_;
  ScanLoop loop_;
};

std::vector<Array> Scan::vjp(const VjpRequest& request) const {
  const std::vector<std::size_t> moving = differentiable(carry_values());
  const std::size_t num_fixed = num_carry_ + num_xs_;
  const std::size_t num_inputs = request.inputs.size();
  std::span<const Array> outputs = request.outputs;
  const std::span<const Array> stacks_in = outputs.subspan(num_carry_ + num_ys());
  const auto cotangent_of_y = [&](std::size_t y) { return request.cotangents[num_carry_ + y]; };
  const auto cotangent_of_stack = [&](std::size_t c) {
    return request.cotangents[num_carry_ + num_ys() + c];
  };

  // Which captures and xs a cotangent is wanted for.
  std::vector<std::size_t> captures;
  for (std::size_t i = num_fixed; i < num_inputs; ++i) {
    if (request.needed[i]) captures.push_back(i);
  }
  std::vector<std::size_t> xs;
  for (std::size_t i = num_carry_; i < num_fixed; ++i) {
    if (request.needed[i]) xs.push_back(i);
  }
  std::vector<bool> needed(num_inputs, false);
  for (const std::size_t c : moving) needed[c] = true;
  for (const std::size_t i : xs) needed[i] = true;
  for (const std::size_t i : captures) needed[i] = true;

  // The carry going back: cotangents of the carries, and sums of those of the captures.
  std::vector<Array> init;
  for (const std::size_t c : moving) {
    init.push_back(or_zeros(request.cotangents[c], carry_values()[c]));
  }
  for (const std::size_t i : captures) init.push_back(zeros_like(request.inputs[i]));
  // What each step back gets: the carry that went in, its xs, and cotangents of what came out.
  std::vector<Array> steps(stacks_in.begin(), stacks_in.end());
  for (std::size_t i = num_carry_; i < num_fixed; ++i) steps.push_back(request.inputs[i]);
  for (std::size_t y = 0; y < num_ys(); ++y) {
    if (!cotangent_of_y(y).is_null()) steps.push_back(cotangent_of_y(y));
  }
  for (std::size_t c = 0; c < num_carry_; ++c) {
    if (!cotangent_of_stack(c).is_null()) steps.push_back(cotangent_of_stack(c));
  }

  const FlatFunction step = [&](std::span<const Array> arguments) {
    const std::span<const Array> carried = take_front(arguments, init.size());
    std::vector<Array> inputs =
        concatenated({take_front(arguments, num_fixed), request.inputs.subspan(num_fixed)});
    std::vector<Array> cotangents(body_->results().size());
    for (std::size_t m = 0; m < moving.size(); ++m) cotangents[moving[m]] = carried[m];
    for (std::size_t y = 0; y < num_ys(); ++y) {
      if (cotangent_of_y(y).is_null()) continue;
      cotangents[num_carry_ + y] = take_front(arguments, 1).front();
    }
    std::vector<Array> found = pull_back(*body_, inputs, needed, cotangents);
    for (std::size_t c = 0; c < num_carry_; ++c) {
      if (cotangent_of_stack(c).is_null()) continue;
      found[c] = add_cotangents(found[c], take_front(arguments, 1).front());
    }
    std::vector<Array> results;
    for (const std::size_t c : moving) results.push_back(or_zeros(found[c], carry_values()[c]));
    for (std::size_t k = 0; k < captures.size(); ++k) {
      results.push_back(add_cotangents(carried[moving.size() + k], found[captures[k]]));
    }
    for (const std::size_t i : xs) results.push_back(or_zeros(found[i], body_->parameters()[i]));
    return results;
  };
  const ScanResults back =
      flat_scan(step, init, steps,
                {.length = loop_.length, .reverse = !loop_.reverse, .unroll = loop_.unroll});

  std::vector<Array> cotangents(num_inputs);
  for (std::size_t m = 0; m < moving.size(); ++m) cotangents[moving[m]] = back.carry[m];
  for (std::size_t k = 0; k < captures.size(); ++k) {
    cotangents[captures[k]] = back.carry[moving.size() + k];
  }
  for (std::size_t i = 0; i < xs.size(); ++i) cotangents[xs[i]] = back.ys[i];
  return cotangents;
}

std::vector<Array> Scan::jvp(const JvpRequest& request) const {
  const std::vector<std::size_t> moving = differentiable(carry_values());
  const std::vector<std::size_t> moving_ys = differentiable(y_values());
  const std::size_t num_fixed = num_carry_ + num_xs_;
  const std::span<const Array> stacks_in = request.outputs.subspan(num_carry_ + num_ys());

  std::vector<Array> init;
  for (const std::size_t c : moving) {
    init.push_back(or_zeros(request.tangents[c], carry_values()[c]));
  }
  std::vector<Array> steps(stacks_in.begin(), stacks_in.end());
  for (std::size_t i = num_carry_; i < num_fixed; ++i) steps.push_back(request.inputs[i]);
  for (std::size_t i = num_carry_; i < num_fixed; ++i) {
    if (!request.tangents[i].is_null()) steps.push_back(request.tangents[i]);
  }
  const FlatFunction step = [&](std::span<const Array> arguments) {
    const std::span<const Array> carried = take_front(arguments, moving.size());
    const std::vector<Array> inputs =
        concatenated({take_front(arguments, num_fixed), request.inputs.subspan(num_fixed)});
    std::vector<Array> tangents(request.tangents.begin(), request.tangents.end());
    for (std::size_t c = 0; c < num_carry_; ++c) tangents[c] = Array();
    for (std::size_t m = 0; m < moving.size(); ++m) tangents[moving[m]] = carried[m];
    for (std::size_t i = num_carry_; i < num_fixed; ++i) {
      if (!tangents[i].is_null()) tangents[i] = take_front(arguments, 1).front();
    }
    const std::vector<Array> found = push_forward(*body_, inputs, tangents).tangents;
    std::vector<Array> results;
    for (const std::size_t c : moving) results.push_back(or_zeros(found[c], carry_values()[c]));
    for (const std::size_t y : moving_ys) {
      results.push_back(or_zeros(found[num_carry_ + y], y_values()[y]));
    }
    return results;
  };
  // The carries of this scan are the tangents of the stacked carries.
  ScanLoop loop = loop_;
  loop.stacks_carries = true;
  const ScanResults pushed = flat_scan(step, init, steps, loop);

  std::vector<Array> tangents(request.outputs.size());
  for (std::size_t m = 0; m < moving.size(); ++m) {
    tangents[moving[m]] = pushed.carry[m];
    if (stacks()) tangents[num_carry_ + num_ys() + moving[m]] = pushed.stacked_carries[m];
  }
  for (std::size_t y = 0; y < moving_ys.size(); ++y) {
    tangents[num_carry_ + moving_ys[y]] = pushed.ys[y];
  }
  return tangents;
}

// Which carries are batched in the end: what a batched one touches in a step is batched after it.
std::vector<bool> Scan::fixed_point(const std::vector<bool>& batched, std::int64_t size) const {
  std::vector<bool> found = batched;
  while (true) {
    std::vector<AbstractValue> values = body_->parameters();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (found[i]) values[i].shape.insert(values[i].shape.begin(), size);
    }
    std::vector<bool> after;
    (void)record(
        [&](std::span<const Array> arguments) {
          after = evaluate_batch(body_->function(), arguments, found, size).batched;
          return std::vector<Array>();
        },
        values);
    bool has_changed = false;
    for (std::size_t c = 0; c < num_carry_; ++c) {
      if (!after[c] || found[c]) continue;
      found[c] = true;
      has_changed = true;
    }
    if (!has_changed) return found;
  }
}

std::vector<Array> Scan::batch(const BatchRequest& request) const {
  const std::vector<bool> batched = fixed_point(request.batched, request.size);
  const std::size_t num_fixed = num_carry_ + num_xs_;
  std::vector<Array> init;
  for (std::size_t c = 0; c < num_carry_; ++c) {
    init.push_back(batched[c] ? batched_operand(request, c) : request.inputs[c]);
  }
  // A step takes the first axis of its xs: the batch goes behind it.
  std::vector<Array> xs;
  for (std::size_t i = num_carry_; i < num_fixed; ++i) {
    xs.push_back(batched[i] ? moveaxis(request.inputs[i], 0, 1) : request.inputs[i]);
  }
  const FlatFunction step = [&](std::span<const Array> arguments) {
    const std::vector<Array> inputs = concatenated({arguments, request.inputs.subspan(num_fixed)});
    BatchedOutputs found = evaluate_batch(body_->function(), inputs, batched, request.size);
    for (std::size_t o = 0; o < found.outputs.size(); ++o) {
      const bool wants_batch = o >= num_carry_ || batched[o];
      if (wants_batch && !found.batched[o]) {
        found.outputs[o] = repeated(found.outputs[o], request.size);
      }
    }
    return found.outputs;
  };
  ScanLoop loop = loop_;
  loop.stacks_carries = stacks();
  const ScanResults found = flat_scan(step, init, xs, loop);
  std::vector<Array> outputs;
  for (std::size_t c = 0; c < num_carry_; ++c) {
    outputs.push_back(batched[c] ? found.carry[c] : repeated(found.carry[c], request.size));
  }
  for (const Array& y : found.ys) outputs.push_back(moveaxis(y, 1, 0));
  for (std::size_t c = 0; c < found.stacked_carries.size(); ++c) {
    const Array& stack = found.stacked_carries[c];
    outputs.push_back(batched[c] ? moveaxis(stack, 1, 0) : repeated(stack, request.size));
  }
  return outputs;
}

}  // namespace

ScanResults flat_scan(const FlatFunction& body, std::span<const Array> init,
                      std::span<const Array> xs, const ScanLoop& loop) {
  std::vector<AbstractValue> arguments = abstract_values(init);
  for (const Array& x : xs) {
    AbstractValue element = x.abstract_value();
    element.shape.erase(element.shape.begin());
    arguments.push_back(std::move(element));
  }
  const ClosedFunction closed = close_over(body, arguments);
  ScanLoop used = loop;
  if (!used.stacks_carries) used.stacks_carries = current_graph() != nullptr;
  const std::vector<Array> outputs =
      lockstep::apply(std::make_shared<Scan>(closed.body, init.size(), xs.size(), used),
                      concatenated({init, xs, closed.captures}));
  std::span<const Array> rest = outputs;
  const auto next = [&](std::size_t count) {
    const std::span<const Array> taken = take_front(rest, count);
    return std::vector<Array>(taken.begin(), taken.end());
  };
  ScanResults results;
  results.carry = next(init.size());
  results.ys = next(closed.body->results().size() - init.size());
  results.stacked_carries = next(rest.size());
  return results;
}

}  // namespace lockstep
