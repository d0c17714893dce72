#pragma once
// What a primitive must stand before it may be registered: its samples run alike eagerly and
// compiled, and its derivatives agree with finite differences and with each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/trace/registry.h"
#include "trace/samples.h"

namespace lockstep {

// One sample of a kind, with elements drawn for it.
class SampleCheck {
 public:
  SampleCheck(const PrimitiveKind& kind, PrimitiveSample sample, std::uint64_t seed)
      : kind_(kind), sample_(std::move(sample)), sampler_(seed) {
    for (std::size_t i = 0; i < sample_.inputs.size(); ++i) {
      if (is_floating(sample_.inputs[i].dtype) && is_wanted(i)) differentiated_.push_back(i);
      inputs_.push_back(draw(sample_.inputs[i], sample_.low, sample_.high));
    }
    outputs_ = sample_.primitive->infer(sample_.inputs);
    for (const AbstractValue& output : outputs_) {
      weights_.push_back(draw({.shape = output.shape, .dtype = DType::Float64}, 0.5, 1.5));
    }
  }

  // What is wrong, in words; empty where nothing is.
  std::vector<std::string> problems() {
    if (sample_.primitive->name() != kind_.name) {
      report(fmt::format("its primitive is called {}", sample_.primitive->name()));
    }
    check_values();
    check_batches();
    if (!has_derivative()) return std::move(problems_);
    switch (kind_.differentiability) {
      case Differentiability::Smooth: check_smooth(); break;
      case Differentiability::Zero: check_zero(); break;
      case Differentiability::Refused: check_refused(); break;
    }
    return std::move(problems_);
  }

  // Whether finite differences in float64 were taken of at least one element.
  [[nodiscard]] bool has_finite_differences() const {
    return has_derivative() && precision() == epsilon(DType::Float64) &&
           std::any_of(differentiated_.begin(), differentiated_.end(),
                       [this](std::size_t i) { return num_elements(sample_.inputs[i].shape) > 0; });
  }

 private:
  struct Derivatives {
    double value;   // f(x): the sum of all results, weighted
    double along;   // the gradient of f times v
    double scale;   // the same with all products positive
    double jvp;     // f's forward derivative along v
    double second;  // the gradient of `along` times u
  };
  using Arrays = std::vector<Array>;

  static double epsilon(DType dtype) {
    switch (dtype) {
      case DType::Float64: return std::ldexp(1.0, -52);
      case DType::Float32: return std::ldexp(1.0, -23);
      case DType::Float16: return std::ldexp(1.0, -10);
      default: return std::ldexp(1.0, -7);
    }
  }

  bool is_wanted(std::size_t input) const {
    const auto& wanted = sample_.differentiable;
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), input) != wanted.end();
  }

  HostTensor draw(const AbstractValue& value, double low, double high) {
    const auto count = static_cast<std::size_t>(num_elements(value.shape));
    if (is_floating(value.dtype)) {
      std::vector<double> values(count);
      for (double& v : values) {
        v = low + (high - low) * std::ldexp(static_cast<double>(sampler_.integer(0, 1 << 30)), -30);
      }
      return cast(HostTensor::from(values, value.shape), value.dtype);
    }
    const std::int64_t least = is_signed_integer(value.dtype) ? -2 : 0;
    const std::int64_t greatest = value.dtype == DType::Bool ? 1 : 5;
    std::vector<std::int64_t> values(count);
    for (std::int64_t& v : values) v = sampler_.integer(least, greatest);
    return cast(HostTensor::from(values, value.shape), value.dtype);
  }

  void report(const std::string& what) {
    std::string inputs;
    for (const AbstractValue& input : sample_.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + to_string(input);
    }
    problems_.push_back(
        fmt::format("{}({}) of {}: {}", kind_.name, sample_.primitive->attributes(), inputs, what));
  }

  void expect_close(const char* what, double found, double expected, double tolerance) {
    if (std::abs(found - expected) <= tolerance) return;
    report(fmt::format("{} is {}, but {} is expected within {}", what, found, expected, tolerance));
  }

  void check_values() {
    const Arrays arrays(inputs_.begin(), inputs_.end());
    const Arrays eager = lockstep::apply(sample_.primitive, arrays);
    const auto compiled =
        jit([this](const Arrays& x) { return lockstep::apply(sample_.primitive, x); });
    const Arrays results = compiled(arrays);
    if (eager.size() != outputs_.size() || results.size() != outputs_.size()) {
      return report("its shape rule gives another number of results");
    }
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const HostTensor first = eager[o].to_host();
      if (first.dtype() != outputs_[o].dtype || first.shape() != outputs_[o].shape) {
        report(fmt::format("result {} is not the {} that its shape rule gives", o,
                           to_string(outputs_[o])));
      }
      if (!first.identical(results[o].to_host())) {
        report(fmt::format("result {} differs between an eager and a compiled run", o));
      }
    }
  }

  // Which inputs are batched: all subsets of up to three inputs; of more, all, and each by itself.
  std::vector<std::vector<bool>> batchings() const {
    const std::size_t count = inputs_.size();
    std::vector<std::vector<bool>> all;
    if (count == 0) return all;
    if (count <= 3) {
      for (std::uint32_t bits = 1; bits < (1U << count); ++bits) {
        std::vector<bool> batched;
        for (std::size_t i = 0; i < count; ++i) batched.push_back((bits >> i & 1U) != 0);
        all.push_back(std::move(batched));
      }
      return all;
    }
    all.emplace_back(count, true);
    for (std::size_t i = 0; i < count; ++i) {
      all.emplace_back(count, false);
      all.back()[i] = true;
    }
    return all;
  }

  // The batching rule agrees with the primitive itself, example by example.
  void check_batches() {
    constexpr std::int64_t size = 3;
    const auto batchings = this->batchings();
    if (batchings.empty()) return;
    Arrays examples;  // of input i: the examples [size * i, size * (i + 1))
    for (const AbstractValue& input : sample_.inputs) {
      for (std::int64_t e = 0; e < size; ++e) {
        examples.emplace_back(draw(input, sample_.low, sample_.high));
      }
    }
    const auto program = jit([&](const Arrays& drawn) {
      Arrays found;
      for (const std::vector<bool>& batched : batchings) {
        const auto example = [&](std::size_t i, std::int64_t e) {
          return drawn[size * i + static_cast<std::size_t>(batched[i] ? e : 0)];
        };
        Arrays inputs;
        for (std::size_t i = 0; i < batched.size(); ++i) {
          inputs.push_back(batched[i] ? stack({example(i, 0), example(i, 1), example(i, 2)})
                                      : example(i, 0));
        }
        const Arrays whole =
            sample_.primitive->batch({.inputs = inputs, .batched = batched, .size = size});
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
          Arrays rows;
          for (std::int64_t e = 0; e < size; ++e) {
            Arrays one;
            for (std::size_t i = 0; i < batched.size(); ++i) one.push_back(example(i, e));
            rows.push_back(lockstep::apply(sample_.primitive, one)[o]);
          }
          found.push_back(whole[o]);
          found.push_back(stack(rows));
        }
      }
      return found;
    });
    const Arrays found = program(examples);
    for (std::size_t f = 0; f < found.size(); f += 2) {
      const HostTensor whole = found[f].to_host();
      const HostTensor rows = found[f + 1].to_host();
      if (whole.dtype() != rows.dtype() || whole.shape() != rows.shape()) {
        report(fmt::format("its batching rule gives {}, but {} is expected",
                           to_string(found[f].abstract_value()),
                           to_string(found[f + 1].abstract_value())));
      } else if (!close(whole, rows)) {
        report(fmt::format("its batching rule ({}) differs from the primitive on each example",
                           f / 2 / outputs_.size()));
      }
    }
  }

  // Equal, or, where sums may be in another order, nearly so.
  bool close(const HostTensor& a, const HostTensor& b) const {
    if (a.identical(b)) return true;
    if (!is_floating(a.dtype())) return false;
    const HostTensor wide_a = cast(a, DType::Float64);
    const HostTensor wide_b = cast(b, DType::Float64);
    const auto x = wide_a.values<double>();
    const auto y = wide_b.values<double>();
    for (std::size_t e = 0; e < x.size(); ++e) {
      if (std::isnan(x[e]) && std::isnan(y[e])) continue;
      if (!(std::abs(x[e] - y[e]) <= 16 * epsilon(a.dtype()) * (1 + std::abs(y[e])))) return false;
    }
    return true;
  }

  bool has_derivative() const {
    return !differentiated_.empty() &&
           std::any_of(outputs_.begin(), outputs_.end(),
                       [](const AbstractValue& output) { return is_floating(output.dtype); });
  }

  // The coarsest precision of what is computed with.
  double precision() const {
    double coarsest = epsilon(DType::Float64);
    const auto look_at = [&](const AbstractValue& value) {
      if (is_floating(value.dtype)) coarsest = std::max(coarsest, epsilon(value.dtype));
    };
    for (const AbstractValue& input : sample_.inputs) look_at(input);
    for (const AbstractValue& output : outputs_) look_at(output);
    return coarsest;
  }

  Array weighted(const Arrays& results) const {
    Array total = zeros({}, DType::Float64);
    for (std::size_t o = 0; o < results.size(); ++o) {
      if (results[o].is_null() || !is_floating(outputs_[o].dtype)) continue;
      total += sum(Array(weights_[o]) * astype(results[o], DType::Float64));
    }
    return total;
  }

  static Array product(const Arrays& a, const Arrays& b) {
    Array total = zeros({}, DType::Float64);
    for (std::size_t i = 0; i < a.size(); ++i) {
      total += sum(astype(a[i], DType::Float64) * astype(b[i], DType::Float64));
    }
    return total;
  }

  // One compiled program of everything: all arrays are those of differentiated inputs. The second
  // derivative takes longest to compile and is left out (0) unless asked for.
  auto program(const std::vector<HostTensor>& inputs, bool has_second = false) const {
    const auto with = [this, inputs](const Arrays& x) {
      Arrays all(inputs.begin(), inputs.end());
      for (std::size_t i = 0; i < x.size(); ++i) all[differentiated_[i]] = x[i];
      return all;
    };
    return jit([this, with, has_second](const Arrays& x, const Arrays& v, const Arrays& u) {
      const auto value = [&](const Arrays& at) {
        return weighted(lockstep::apply(sample_.primitive, with(at)));
      };
      const auto along = [&](const Arrays& at) { return product(grad(value)(at), v); };
      const auto [first, gradient] = value_and_grad(value)(x);
      Array scale = zeros({}, DType::Float64);
      for (std::size_t i = 0; i < x.size(); ++i) {
        scale += sum(abs(astype(gradient[i], DType::Float64) * astype(v[i], DType::Float64)));
      }
      const Arrays all = with(x);
      const Arrays results = lockstep::apply(sample_.primitive, all);
      Arrays tangents(all.size());
      for (std::size_t i = 0; i < v.size(); ++i) tangents[differentiated_[i]] = v[i];
      const Arrays pushed =
          sample_.primitive->jvp({.inputs = all, .outputs = results, .tangents = tangents});
      return Arrays{first, product(gradient, v), scale, weighted(pushed),
                    has_second ? product(grad(along)(x), u) : zeros({}, DType::Float64)};
    });
  }

  template <class Program>
  static Derivatives run(const Program& program, const std::vector<HostTensor>& x,
                         const std::vector<HostTensor>& v, const std::vector<HostTensor>& u) {
    const auto arrays = [](const std::vector<HostTensor>& tensors) {
      return Arrays(tensors.begin(), tensors.end());
    };
    const Arrays found = program(arrays(x), arrays(v), arrays(u));
    return {found[0].item<double>(), found[1].item<double>(), found[2].item<double>(),
            found[3].item<double>(), found[4].item<double>()};
  }

  std::vector<HostTensor> drawn(double low, double high) {
    std::vector<HostTensor> tensors;
    for (const std::size_t i : differentiated_) {
      tensors.push_back(draw(sample_.inputs[i], low, high));
    }
    return tensors;
  }

  // x + step * v, in float64.
  static std::vector<HostTensor> moved(std::vector<HostTensor> x, const std::vector<HostTensor>& v,
                                       double step) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto to = x[i].mutable_values<double>();
      const auto by = v[i].values<double>();
      for (std::size_t e = 0; e < to.size(); ++e) to[e] += step * by[e];
    }
    return x;
  }

  std::vector<HostTensor> differentiated_inputs() const {
    std::vector<HostTensor> x;
    for (const std::size_t i : differentiated_) x.push_back(inputs_[i]);
    return x;
  }

  void check_smooth() {
    const auto x = differentiated_inputs();
    const auto v = drawn(-1, 1);
    const auto u = drawn(-1, 1);
    const double eps = precision();
    const bool is_wide = eps == epsilon(DType::Float64);
    const auto derivatives = program(inputs_, is_wide);
    const Derivatives at_x = run(derivatives, x, v, u);
    expect_close("the forward derivative", at_x.jvp, at_x.along, 64 * eps * (1e-6 + at_x.scale));
    if (!is_wide) return check_narrow(at_x, v, u);

    constexpr double step = 1e-6;
    const auto central = [&](double Derivatives::*member, const std::vector<HostTensor>& towards) {
      const Derivatives after = run(derivatives, moved(x, towards, step), v, u);
      const Derivatives before = run(derivatives, moved(x, towards, -step), v, u);
      return (after.*member - before.*member) / (2 * step);
    };
    const double first = central(&Derivatives::value, v);
    expect_close("the gradient", at_x.along, first, 1e-6 * (1 + at_x.scale));
    const double second = central(&Derivatives::along, u);
    expect_close("the second derivative", at_x.second, second, 1e-5 * (1 + std::abs(second)));
  }

  // In narrower types: near the same derivative in float64, where the primitive has one.
  void check_narrow(const Derivatives& narrow, const std::vector<HostTensor>& v,
                    const std::vector<HostTensor>& u) {
    std::vector<AbstractValue> wide = sample_.inputs;
    std::vector<HostTensor> inputs = inputs_;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      if (!is_floating(wide[i].dtype)) continue;
      wide[i].dtype = DType::Float64;
      inputs[i] = cast(inputs[i], DType::Float64);
    }
    const std::vector<AbstractValue> outputs = sample_.primitive->infer(wide);
    const bool is_wide = std::all_of(outputs.begin(), outputs.end(), [](const AbstractValue& o) {
      return !is_floating(o.dtype) || o.dtype == DType::Float64;
    });
    if (!is_wide) return;
    const auto widened = [](std::vector<HostTensor> tensors) {
      for (HostTensor& tensor : tensors) tensor = cast(tensor, DType::Float64);
      return tensors;
    };
    const Derivatives exact =
        run(program(inputs), widened(differentiated_inputs()), widened(v), widened(u));
    expect_close("the gradient", narrow.along, exact.along,
                 16 * precision() * (1e-6 + exact.scale));
  }

  void check_zero() {
    const Derivatives found =
        run(program(inputs_), differentiated_inputs(), drawn(-1, 1), drawn(-1, 1));
    expect_close("the gradient (zero by definition)", found.scale, 0.0, 0.0);
    expect_close("the forward derivative (zero by definition)", found.jvp, 0.0, 0.0);
  }

  void check_refused() {
    try {
      (void)run(program(inputs_), differentiated_inputs(), drawn(-1, 1), drawn(-1, 1));
      report("its derivative is not refused");
    } catch (const ValueError& error) {
      if (std::string(error.what()).find(kind_.refusal) == std::string::npos) {
        report(fmt::format("its refusal reads '{}'", error.what()));
      }
    }
  }

  const PrimitiveKind& kind_;
  PrimitiveSample sample_;
  Sampler sampler_;
  std::vector<std::size_t> differentiated_;
  std::vector<HostTensor> inputs_;
  std::vector<HostTensor> weights_;
  std::vector<AbstractValue> outputs_;
  std::vector<std::string> problems_;
};

// Why the kind may not be registered; empty where it may.
inline std::vector<std::string> problems_of(const PrimitiveKind& kind, std::uint64_t seed = 1) {
  if (kind.samples == nullptr) return {kind.name + " has no samples"};
  std::vector<std::string> problems;
  const std::vector<PrimitiveSample> samples = kind.samples(seed);
  if (samples.size() < 3) {
    problems.push_back(
        fmt::format("{} has {} samples; at least three are needed", kind.name, samples.size()));
  }
  if (kind.differentiability == Differentiability::Refused && kind.refusal.empty()) {
    problems.push_back(kind.name + " refuses to be differentiated without a reason");
  }
  bool is_confirmed = false;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    try {
      SampleCheck check(kind, samples[i], 1000 * seed + i);
      is_confirmed = is_confirmed || check.has_finite_differences();
      for (std::string& problem : check.problems()) problems.push_back(std::move(problem));
    } catch (const std::exception& error) {
      problems.push_back(fmt::format("{}, sample {}: {}", kind.name, i, error.what()));
    }
  }
  if (kind.differentiability == Differentiability::Smooth && !is_confirmed) {
    problems.push_back(kind.name + " has no sample whose derivative is checked in float64");
  }
  return problems;
}

}  // namespace lockstep
