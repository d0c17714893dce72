// while_loop: forward derivatives go round with the carries; backward ones would need them all
// kept, and their number is not known.
#include "trace/control_flow/while_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/primitive.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batch.h"
#include "trace/batching.h"
#include "trace/control_flow/body.h"
#include "trace/differentiation.h"
#include "trace/flat.h"
#include "trace/rule_support.h"
#include "trace/stretch.h"

namespace lockstep {
namespace {

class While final : public Primitive {
 public:
  // Inputs: carries, the condition's captures, the body's captures.
  While(BodyPtr condition, BodyPtr body)
      : condition_(std::move(condition)), body_(std::move(body)) {}

  std::string_view name() const override { return "while_loop"; }
  std::string attributes() const override {
    return fmt::format("condition = {{\n{}}}, body = {{\n{}}}", condition_->text(), body_->text());
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs,
                     condition_->parameters().size() + body_->parameters().size() - num_carry());
    return body_->results();
  }

  // Captures go through the loop unchanged.
  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue>) const override {
    std::vector<AbstractValue> values(input_values.begin(), input_values.end());
    for (std::size_t c = 0; c < num_carry(); ++c) values[c] = body_->results()[c];
    const AbstractValue truth{.shape = {}, .dtype = DType::Bool};
    const std::string condition =
        builder.region(values, std::span(&truth, 1), [&](std::span<const std::string> names) {
          return condition_->emit(builder, condition_inputs(names));
        });
    const std::string body =
        builder.region(values, values, [&](std::span<const std::string> names) {
          std::vector<std::string> next = body_->emit(builder, body_inputs(names));
          next.insert(next.end(), names.begin() + static_cast<std::ptrdiff_t>(num_carry()),
                      names.end());
          return next;
        });
    std::vector<std::string> found =
        builder.emit("stablehlo.while", inputs, values, values, {}, std::array{condition, body});
    found.resize(num_carry());
    return found;
  }

  std::vector<Array> vjp(const VjpRequest&) const override {
    throw_value_error(name(),
                      "it has no derivative in reverse mode, as the number of its steps is not "
                      "known beforehand; use scan, or fori_loop with bounds that are numbers, or "
                      "forward mode (jvp, jacfwd)");
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    std::vector<std::size_t> moving;
    for (std::size_t c = 0; c < num_carry(); ++c) {
      if (is_differentiable(body_->results()[c].dtype)) moving.push_back(c);
    }
    std::vector<Array> init(request.inputs.begin(),
                            request.inputs.begin() + static_cast<std::ptrdiff_t>(num_carry()));
    for (const std::size_t c : moving) {
      init.push_back(request.tangents[c].is_null() ? zeros_like(init[c]) : request.tangents[c]);
    }
    const auto with_carry = [&](std::span<const Array> carry) {
      return concatenated({carry.first(num_carry()), request.inputs.subspan(num_carry())});
    };
    const FlatFunction condition = [&](std::span<const Array> state) {
      return (*condition_)(condition_inputs(with_carry(state)));
    };
    const FlatFunction body = [&](std::span<const Array> state) {
      std::vector<Array> tangents(request.tangents.begin(), request.tangents.end());
      for (std::size_t c = 0; c < num_carry(); ++c) tangents[c] = Array();
      for (std::size_t m = 0; m < moving.size(); ++m) tangents[moving[m]] = state[num_carry() + m];
      PushedForward pushed =
          push_forward(*body_, body_inputs(with_carry(state)), body_inputs(tangents));
      for (const std::size_t c : moving) {
        pushed.results.push_back(pushed.tangents[c].is_null() ? zeros_like(pushed.results[c])
                                                              : pushed.tangents[c]);
      }
      return pushed.results;
    };
    const std::vector<Array> found = flat_while(condition, body, init);
    std::vector<Array> tangents(num_carry());
    for (std::size_t m = 0; m < moving.size(); ++m) {
      tangents[moving[m]] = found[num_carry() + m];
    }
    return tangents;
  }

  // A batched condition lets the loop run until it holds for no example; finished ones stay as they
  // are.
  std::vector<Array> batch(const BatchRequest& request) const override {
    std::vector<bool> batched = request.batched;
    bool predicate_batched = false;
    while (true) {
      const auto [condition_after, body_after] = batched_after(request, batched);
      predicate_batched = condition_after;
      bool has_changed = false;
      for (std::size_t c = 0; c < num_carry(); ++c) {
        if (batched[c] || !(predicate_batched || body_after[c])) continue;
        batched[c] = true;
        has_changed = true;
      }
      if (!has_changed) break;
    }
    std::vector<Array> init;
    for (std::size_t c = 0; c < num_carry(); ++c) {
      init.push_back(batched[c] ? batched_operand(request, c) : request.inputs[c]);
    }
    const auto with_carry = [&](std::span<const Array> carry) {
      return concatenated({carry, request.inputs.subspan(num_carry())});
    };
    const auto holds = [&](std::span<const Array> carry) {
      return evaluate_batch(condition_->function(), condition_inputs(with_carry(carry)),
                            condition_inputs(batched), request.size)
          .outputs[0];
    };
    const FlatFunction condition = [&](std::span<const Array> carry) {
      const Array predicate = holds(carry);
      return std::vector<Array>{predicate_batched ? any(predicate) : predicate};
    };
    const FlatFunction body = [&](std::span<const Array> carry) {
      BatchedOutputs found = evaluate_batch(body_->function(), body_inputs(with_carry(carry)),
                                            body_inputs(batched), request.size);
      const Array predicate = predicate_batched ? holds(carry) : Array();
      for (std::size_t c = 0; c < num_carry(); ++c) {
        Array& next = found.outputs[c];
        if (batched[c] && !found.batched[c]) next = repeated(next, request.size);
        if (!predicate_batched) continue;
        next = select(broadcast_in_dim(predicate, next.shape(), std::vector<std::int64_t>{0}), next,
                      carry[c]);
      }
      return found.outputs;
    };
    std::vector<Array> found = flat_while(condition, body, init);
    for (std::size_t c = 0; c < num_carry(); ++c) {
      if (!batched[c]) found[c] = repeated(found[c], request.size);
    }
    return found;
  }

 private:
  std::size_t num_carry() const { return body_->results().size(); }

  // What the condition and the body take of something with one entry for each input.
  template <class List>
  std::vector<typename List::value_type> part(const List& all, std::size_t first,
                                              std::size_t count) const {
    std::vector<typename List::value_type> own;
    for (std::size_t c = 0; c < num_carry(); ++c) own.push_back(all[c]);
    for (std::size_t i = 0; i < count; ++i) own.push_back(all[first + i]);
    return own;
  }
  template <class List>
  std::vector<typename List::value_type> condition_inputs(const List& all) const {
    return part(all, num_carry(), condition_->parameters().size() - num_carry());
  }
  template <class List>
  std::vector<typename List::value_type> body_inputs(const List& all) const {
    return part(all, condition_->parameters().size(), body_->parameters().size() - num_carry());
  }

  // What is batched after one step from carries of which `batched` are.
  std::pair<bool, std::vector<bool>> batched_after(const BatchRequest& request,
                                                   const std::vector<bool>& batched) const {
    std::vector<AbstractValue> values;
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
      AbstractValue value = request.inputs[i].abstract_value();
      if (batched[i] && !request.batched[i]) {
        value.shape.insert(value.shape.begin(), request.size);
      }
      values.push_back(std::move(value));
    }
    std::pair<bool, std::vector<bool>> after;
    (void)record(
        [&](std::span<const Array> inputs) {
          after.first = evaluate_batch(condition_->function(), condition_inputs(inputs),
                                       condition_inputs(batched), request.size)
                            .batched[0];
          after.second = evaluate_batch(body_->function(), body_inputs(inputs),
                                        body_inputs(batched), request.size)
                             .batched;
          return std::vector<Array>();
        },
        values);
    return after;
  }

  BodyPtr condition_;
  BodyPtr body_;
};

}  // namespace

std::vector<Array> flat_while(const FlatFunction& condition, const FlatFunction& body,
                              std::span<const Array> init) {
  const std::vector<AbstractValue> values = abstract_values(init);
  const ClosedFunction closed_condition = close_over(condition, values);
  const ClosedFunction closed_body = close_over(body, values);
  return lockstep::apply(std::make_shared<While>(closed_condition.body, closed_body.body),
                         concatenated({init, closed_condition.captures, closed_body.captures}));
}

}  // namespace lockstep
