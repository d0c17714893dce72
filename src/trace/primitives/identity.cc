// identity: a value under a new name. Marks where a differentiation starts.
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

class Identity final : public Primitive {
 public:
  std::string_view name() const override { return "identity"; }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 1);
    return {inputs[0]};
  }

  std::vector<std::string> lower(FunctionBuilder&, std::span<const std::string> inputs,
                                 std::span<const AbstractValue>,
                                 std::span<const AbstractValue>) const override {
    return {inputs[0]};
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    return one(request.cotangents[0]);
  }
  std::vector<Array> jvp(const JvpRequest& request) const override {
    return one(request.tangents[0]);
  }
  std::vector<Array> batch(const BatchRequest& request) const override {
    return one(request.inputs[0]);
  }
};

}  // namespace

namespace primitives {
PrimitivePtr identity() {
  static const PrimitivePtr instance = std::make_shared<Identity>();
  return instance;
}
}  // namespace primitives

void add_identity_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "identity", .refusal = {}, .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     for (const std::int64_t ndim : {0, 1, 3}) {
                       samples.push_back({.primitive = primitives::identity(),
                                          .inputs = {f64(sampler.shape(ndim))}});
                     }
                     return samples;
                   }});
}

}  // namespace lockstep
