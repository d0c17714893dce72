// dot_general: the product of matrices and tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/batching.h"
#include "trace/precision_text.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

using primitives::Axes;
using primitives::DotAttributes;

// Axes that are neither contracted nor batch axes.
Axes kept_axes(std::size_t ndim, const Axes& contracting, const Axes& batch) {
  Axes used = contracting;
  used.insert(used.end(), batch.begin(), batch.end());
  return remaining_axes(static_cast<std::int64_t>(ndim), used);
}

// `partners[i]` belongs to `keys[i]`; the partners in rising order of the keys.
Axes sorted_by(const Axes& keys, const Axes& partners) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(keys[i], partners[i]);
  std::sort(pairs.begin(), pairs.end());
  Axes result;
  for (const auto& [key, partner] : pairs) result.push_back(partner);
  return result;
}

Axes joined(std::initializer_list<Axes> parts) {
  Axes all;
  for (const Axes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// `x`, whose axis i is axis places[i] of the result.
Array put_axes(const Array& x, const Axes& places) {
  Axes permutation(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    permutation[static_cast<std::size_t>(places[i])] = static_cast<std::int64_t>(i);
  }
  return lockstep::transpose(x, permutation);
}

class DotGeneral final : public Primitive {
 public:
  explicit DotGeneral(DotAttributes attributes) : attributes_(std::move(attributes)) {}
  std::string_view name() const override { return "dot_general"; }
  std::string attributes() const override {
    const DotDimensionNumbers& d = attributes_.dimensions;
    return fmt::format(
        "lhs_contracting = [{}], rhs_contracting = [{}], lhs_batch = [{}], rhs_batch = [{}], "
        "precision = {}, preferred_element_type = {}",
        join(d.lhs_contracting), join(d.rhs_contracting), join(d.lhs_batch), join(d.rhs_batch),
        precision_text(attributes_.precision),
        attributes_.preferred_element_type ? to_string(*attributes_.preferred_element_type) : "");
  }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 2);
    check_same_dtype(name(), inputs);
    check_accepts(name(), Accepts::Number, inputs[0]);
    const DotDimensionNumbers& d = attributes_.dimensions;
    check_axes(name(), "lhs axes", joined({d.lhs_contracting, d.lhs_batch}), inputs[0]);
    check_axes(name(), "rhs axes", joined({d.rhs_contracting, d.rhs_batch}), inputs[1]);
    check_pairs("contracting", d.lhs_contracting, d.rhs_contracting, inputs,
                "transpose one side or check the layer sizes");
    check_pairs("batch", d.lhs_batch, d.rhs_batch, inputs, "check the leading axes");
    AbstractValue result{.shape = {},
                         .dtype = attributes_.preferred_element_type.value_or(inputs[0].dtype),
                         .weak_type = all_weak(inputs)};
    for (const std::int64_t axis : d.lhs_batch) result.shape.push_back(at(inputs[0].shape, axis));
    for (const std::int64_t axis : lhs_kept(inputs[0].shape.size())) {
      result.shape.push_back(at(inputs[0].shape, axis));
    }
    for (const std::int64_t axis : rhs_kept(inputs[1].shape.size())) {
      result.shape.push_back(at(inputs[1].shape, axis));
    }
    return {result};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    const DotDimensionNumbers& d = attributes_.dimensions;
    std::string batch;
    if (!d.lhs_batch.empty()) {
      batch = fmt::format("lhs_batching_dimensions = [{}], rhs_batching_dimensions = [{}], ",
                          join(d.lhs_batch), join(d.rhs_batch));
    }
    return builder.emit(
        "stablehlo.dot_general", inputs, input_values, output_values,
        fmt::format("dot_dimension_numbers = #stablehlo.dot<{}lhs_contracting_dimensions = [{}], "
                    "rhs_contracting_dimensions = [{}]>, {}",
                    batch, join(d.lhs_contracting), join(d.rhs_contracting),
                    precision_config(attributes_.precision)));
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    std::vector<Array> result(2);
    const Array& g = request.cotangents[0];
    if (g.is_null()) return result;
    if (request.needed[0]) result[0] = lhs_cotangent(g, request.inputs[0], request.inputs[1]);
    if (request.needed[1]) result[1] = rhs_cotangent(g, request.inputs[0], request.inputs[1]);
    return result;
  }

  std::vector<Array> jvp(const JvpRequest& request) const override {
    const auto product = [&](const Array& lhs, const Array& rhs) {
      if (lhs.is_null() || rhs.is_null()) return Array();
      return apply_one(primitives::dot_general(attributes_), std::vector<Array>{lhs, rhs});
    };
    return one(add_cotangents(product(request.tangents[0], request.inputs[1]),
                              product(request.inputs[0], request.tangents[1])));
  }

  // Where one side is batched its batch is a kept axis; where both are, a batch axis.
  std::vector<Array> batch(const BatchRequest& request) const override {
    const DotDimensionNumbers& d = attributes_.dimensions;
    DotAttributes whole = attributes_;
    if (request.batched[0]) {
      whole.dimensions.lhs_contracting = shifted(d.lhs_contracting);
      whole.dimensions.lhs_batch = shifted(d.lhs_batch);
    }
    if (request.batched[1]) {
      whole.dimensions.rhs_contracting = shifted(d.rhs_contracting);
      whole.dimensions.rhs_batch = shifted(d.rhs_batch);
    }
    auto place = static_cast<std::int64_t>(d.lhs_batch.size());
    if (request.batched[0] && request.batched[1]) {
      whole.dimensions.lhs_batch = with_batch_axis(d.lhs_batch);
      whole.dimensions.rhs_batch = with_batch_axis(d.rhs_batch);
      place = 0;
    } else if (request.batched[1]) {
      place += static_cast<std::int64_t>(lhs_kept(request.inputs[0].shape().size()).size());
    }
    const Array result = apply_one(primitives::dot_general(std::move(whole)), request.inputs);
    return one(place == 0 ? result : moveaxis(result, place, 0));
  }

 private:
  Axes lhs_kept(std::size_t ndim) const {
    return kept_axes(ndim, attributes_.dimensions.lhs_contracting,
                     attributes_.dimensions.lhs_batch);
  }
  Axes rhs_kept(std::size_t ndim) const {
    return kept_axes(ndim, attributes_.dimensions.rhs_contracting,
                     attributes_.dimensions.rhs_batch);
  }

  void check_pairs(std::string_view what, const Axes& lhs, const Axes& rhs,
                   std::span<const AbstractValue> inputs, std::string_view hint) const {
    if (lhs.size() != rhs.size()) {
      throw_value_error(name(), fmt::format("lhs has {} {} axes [{}], rhs has {} [{}], of {}; they "
                                            "are taken in pairs",
                                            lhs.size(), what, join(lhs), rhs.size(), join(rhs),
                                            describe(inputs)));
    }
    for (std::size_t i = 0; i < lhs.size(); ++i) {
      const std::int64_t l = at(inputs[0].shape, lhs[i]);
      const std::int64_t r = at(inputs[1].shape, rhs[i]);
      if (l == r) continue;
      throw_value_error(name(),
                        fmt::format("{} dimensions differ: lhs {} has {} at axis {}, rhs {} "
                                    "has {} at axis {}; {}",
                                    what, to_string(inputs[0]), l, lhs[i], to_string(inputs[1]), r,
                                    rhs[i], hint));
    }
  }

  // A product with the cotangent, summed in the cotangent's type.
  Array product(const Array& a, const Array& b, DotDimensionNumbers dimensions, DType dtype) const {
    const DType wide = attributes_.preferred_element_type.value_or(dtype);
    const Array result = apply_one(
        primitives::dot_general({std::move(dimensions), attributes_.precision, std::nullopt}),
        std::vector<Array>{cast_to(a, wide), cast_to(b, wide)});
    return cast_to(result, dtype);
  }
  static Array cast_to(const Array& x, DType dtype) {
    return x.dtype() == dtype ? x : astype(x, dtype);
  }

  // The result's axes are: batch, lhs's others, rhs's others.
  Array lhs_cotangent(const Array& g, const Array& lhs, const Array& rhs) const {
    const DotDimensionNumbers& d = attributes_.dimensions;
    const Axes kept = lhs_kept(lhs.shape().size());
    const Axes other = rhs_kept(rhs.shape().size());
    const auto num_batch = static_cast<std::int64_t>(d.lhs_batch.size());
    Axes g_contracting;
    for (std::size_t i = 0; i < other.size(); ++i) {
      g_contracting.push_back(num_batch + static_cast<std::int64_t>(kept.size() + i));
    }
    const Array result = product(g, rhs,
                                 {.lhs_contracting = g_contracting,
                                  .rhs_contracting = other,
                                  .lhs_batch = range(num_batch),
                                  .rhs_batch = d.rhs_batch},
                                 lhs.dtype());
    return put_axes(result,
                    joined({d.lhs_batch, kept, sorted_by(d.rhs_contracting, d.lhs_contracting)}));
  }

  Array rhs_cotangent(const Array& g, const Array& lhs, const Array& rhs) const {
    const DotDimensionNumbers& d = attributes_.dimensions;
    const Axes kept = rhs_kept(rhs.shape().size());
    const Axes other = lhs_kept(lhs.shape().size());
    const auto num_batch = static_cast<std::int64_t>(d.lhs_batch.size());
    Axes g_contracting;
    for (std::size_t i = 0; i < other.size(); ++i) {
      g_contracting.push_back(num_batch + static_cast<std::int64_t>(i));
    }
    // lhs comes first, so that a matrix product's result needs no transpose.
    const Array result = product(lhs, g,
                                 {.lhs_contracting = other,
                                  .rhs_contracting = g_contracting,
                                  .lhs_batch = d.lhs_batch,
                                  .rhs_batch = range(num_batch)},
                                 rhs.dtype());
    return put_axes(result,
                    joined({d.rhs_batch, sorted_by(d.lhs_contracting, d.rhs_contracting), kept}));
  }

  DotAttributes attributes_;
};

}  // namespace

namespace primitives {
PrimitivePtr dot_general(DotAttributes attributes) {
  return std::make_shared<DotGeneral>(std::move(attributes));
}
}  // namespace primitives

void add_dot_general_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back(
      {.name = "dot_general", .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         std::vector<PrimitiveSample> samples;
         const auto add = [&](AbstractValue a, AbstractValue b, DotDimensionNumbers d,
                              std::optional<DType> preferred = {}) {
           samples.push_back(
               {.primitive = primitives::dot_general({std::move(d), Precision::Highest, preferred}),
                .inputs = {std::move(a), std::move(b)}});
         };
         const Shape s = sampler.shape(5);
         add(f64({s[0], s[1]}), f64({s[1], s[2]}),
             {.lhs_contracting = {1}, .rhs_contracting = {0}});
         add(f64({s[1], s[0], s[2]}), f64({s[3], s[1], s[2]}),
             {.lhs_contracting = {2, 0}, .rhs_contracting = {2, 1}});
         add(f64({s[0], s[1], s[2]}), f64({s[2], s[3], s[0]}),
             {.lhs_contracting = {2}, .rhs_contracting = {0}, .lhs_batch = {0}, .rhs_batch = {2}});
         add(f64({3}), f64({2}), {});
         add(f64({2, 0}), f64({0, 3}), {.lhs_contracting = {1}, .rhs_contracting = {0}});
         add(of_type(DType::Int32, {2, 3}), of_type(DType::Int32, {3}),
             {.lhs_contracting = {1}, .rhs_contracting = {0}});
         add(of_type(DType::BFloat16, {2, 3}), of_type(DType::BFloat16, {3, 2}),
             {.lhs_contracting = {1}, .rhs_contracting = {0}}, DType::Float32);
         return samples;
       }});
}

}  // namespace lockstep
