// optimization_barrier: values as they are, but what is computed of them cannot be merged with what
// is computed of the same values elsewhere, nor begin before all of them are there.
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

class OptimizationBarrier final : public Primitive {
 public:
  std::string_view name() const override { return "optimization_barrier"; }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    return {inputs.begin(), inputs.end()};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    if (inputs.empty()) return {};
    return builder.emit("stablehlo.optimization_barrier", inputs, input_values, output_values);
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    return {request.cotangents.begin(), request.cotangents.end()};
  }
  std::vector<Array> jvp(const JvpRequest& request) const override {
    return {request.tangents.begin(), request.tangents.end()};
  }
  std::vector<Array> batch(const BatchRequest& request) const override {
    return batch_elementwise(primitives::optimization_barrier(), request);
  }
};

}  // namespace

namespace primitives {
PrimitivePtr optimization_barrier() {
  static const PrimitivePtr instance = std::make_shared<OptimizationBarrier>();
  return instance;
}
}  // namespace primitives

void add_optimization_barrier_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back(
      {.name = "optimization_barrier", .refusal = {}, .samples = [](std::uint64_t seed) {
         Sampler sampler(seed);
         const auto barrier = primitives::optimization_barrier();
         return std::vector<PrimitiveSample>{
             {.primitive = barrier, .inputs = {f64(sampler.shape(2))}},
             {.primitive = barrier,
              .inputs = {f64({}), f64(sampler.shape(1)), of_type(DType::Int32, {2})}},
             {.primitive = barrier, .inputs = {of_type(DType::BFloat16, {0, 2})}},
         };
       }});
}

}  // namespace lockstep
