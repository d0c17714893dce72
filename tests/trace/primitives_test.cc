// The walk over the registry: no primitive without samples, equal eager and compiled results, and
// derivatives that finite differences confirm.
#include <set>
#include <string>
#include <vector>

#include "lockstep/trace/operators.h"
#include "trace/batching.h"
#include "trace/primitive_checks.h"
#include "trace/rule_support.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EveryPrimitive : public ::testing::TestWithParam<std::string> {};

const PrimitiveKind& kind_named(const std::string& name) {
  for (const PrimitiveKind& kind : primitive_kinds()) {
    if (kind.name == name) return kind;
  }
  throw std::out_of_range(name);
}

TEST_P(EveryPrimitive, RunsAndDifferentiates) {
  EXPECT_THAT(problems_of(kind_named(GetParam())), IsEmpty());
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const PrimitiveKind& kind : primitive_kinds()) names.push_back(kind.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPrimitive, ::testing::ValuesIn(kind_names()),
                         [](const auto& param_info) { return param_info.param; });

TEST(Registry, IsSortedAndHasEachNameOnce) {
  const std::vector<std::string> names = kind_names();
  const std::set<std::string> sorted(names.begin(), names.end());
  EXPECT_EQ(names, std::vector<std::string>(sorted.begin(), sorted.end()));
}

// A rule that emits an unregistered primitive would escape the walk.
TEST(Registry, RulesAreBuiltOfRegisteredPrimitives) {
  const std::vector<std::string> names = kind_names();
  const std::set<std::string> registered(names.begin(), names.end());
  for (const PrimitiveKind& kind : primitive_kinds()) {
    for (const PrimitiveSample& sample : kind.samples(1)) {
      const RecordedFunction recorded = record(
          [&](std::span<const Array> inputs) {
            const std::vector<Array> outputs = lockstep::apply(sample.primitive, inputs);
            std::vector<Array> cotangents;
            for (const Array& output : outputs) {
              cotangents.push_back(is_floating(output.dtype()) ? ones_like(output) : Array());
            }
            std::vector<bool> needed;
            for (const Array& input : inputs) needed.push_back(is_floating(input.dtype()));
            std::vector<Array> given;
            if (!inputs.empty() && kind.differentiability == Differentiability::Smooth) {
              given = sample.primitive->vjp({inputs, outputs, cotangents, needed});
              std::erase_if(given, [](const Array& array) { return array.is_null(); });
            }
            return given;
          },
          sample.inputs);
      for (const Node& node : recorded.graph->nodes()) {
        EXPECT_TRUE(registered.contains(std::string(node.primitive->name())))
            << kind.name << " emits " << node.primitive->name();
      }
    }
  }
}

// ---- primitives that must not pass -----------------------------------------------------------

using Rule = Array (*)(const Array& t, const Array& x);

// A sine whose rules are given; a null rule is the default, which throws.
class Sine final : public Primitive, public std::enable_shared_from_this<Sine> {
 public:
  Sine(std::string name, Rule backward, Rule forward)
      : name_(std::move(name)), vjp_(backward), jvp_(forward) {}
  std::string_view name() const override { return name_; }
  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    return {inputs[0]};
  }
  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    return builder.emit("stablehlo.sine", inputs, input_values, output_values);
  }
  std::vector<Array> vjp(const VjpRequest& request) const override {
    if (vjp_ == nullptr) return Primitive::vjp(request);
    return {vjp_(request.cotangents[0], request.inputs[0])};
  }
  std::vector<Array> jvp(const JvpRequest& request) const override {
    if (jvp_ == nullptr) return Primitive::jvp(request);
    return {jvp_(request.tangents[0], request.inputs[0])};
  }
  std::vector<Array> batch(const BatchRequest& request) const override {
    if (name_ == "unbatched") return Primitive::batch(request);
    if (name_ == "wrong_batch") return {sin(request.inputs[0] + 1e-6)};
    if (name_ == "misshapen_batch") return {sum(request.inputs[0], {.axis = 0})};
    return batch_elementwise(shared_from_this(), request);
  }

 private:
  std::string name_;
  Rule vjp_;
  Rule jvp_;
};

Array right(const Array& t, const Array& x) {
  return t * cos(x);
}

PrimitiveKind sine_kind(const std::string& name, Rule vjp, Rule jvp, std::size_t num_samples = 3,
                        DType dtype = DType::Float64) {
  return {.name = name, .samples = [=](std::uint64_t) {
            const auto sine = std::make_shared<Sine>(name, vjp, jvp);
            return std::vector<PrimitiveSample>(
                num_samples, {.primitive = sine, .inputs = {of_type(dtype, {3})}});
          }};
}

TEST(Walk, PassesACompletePrimitive) {
  EXPECT_THAT(problems_of(sine_kind("complete", right, right)), IsEmpty());
}

TEST(Walk, FailsWithoutSamples) {
  EXPECT_THAT(problems_of({.name = "bare"}), ElementsAre("bare has no samples"));
  EXPECT_THAT(problems_of(sine_kind("short", right, right, 2)),
              ElementsAre("short has 2 samples; at least three are needed"));
}

TEST(Walk, FailsWithoutADerivativeOrAReasonForNone) {
  EXPECT_THAT(problems_of(sine_kind("ruleless", nullptr, right)),
              ::testing::Each(HasSubstr("[ruleless] it has no derivative in reverse mode")));
  EXPECT_THAT(problems_of(sine_kind("forwardless", right, nullptr)),
              ::testing::Contains(HasSubstr("[forwardless] it has no derivative in forward mode")));
  PrimitiveKind silent = sine_kind("silent", nullptr, nullptr);
  silent.differentiability = Differentiability::Refused;
  EXPECT_THAT(problems_of(silent),
              ElementsAre("silent refuses to be differentiated without a reason"));
  silent.refusal = "no derivative in reverse mode";
  EXPECT_THAT(problems_of(silent), IsEmpty());
  silent.refusal = "another reason";
  EXPECT_THAT(problems_of(silent), ::testing::Each(HasSubstr("its refusal reads")));
}

TEST(Walk, FailsWithoutARightBatchingRule) {
  EXPECT_THAT(problems_of(sine_kind("unbatched", right, right)),
              ::testing::Each(HasSubstr("[unbatched] vmap has no rule for it")));
  EXPECT_THAT(problems_of(sine_kind("wrong_batch", right, right)),
              ::testing::Each(HasSubstr("its batching rule (0) differs")));
  EXPECT_THAT(problems_of(sine_kind("misshapen_batch", right, right)),
              ::testing::Each(HasSubstr("its batching rule gives float64[3], but float64[3,3]")));
}

TEST(Walk, FailsWhereARefusalDoesNotHappen) {
  PrimitiveKind kind = sine_kind("unrefused", right, right);
  kind.differentiability = Differentiability::Refused;
  kind.refusal = "never said";
  EXPECT_THAT(problems_of(kind), ::testing::Each(HasSubstr("its derivative is not refused")));
}

TEST(Walk, FailsWithAWrongDerivative) {
  const Rule wrong = [](const Array& t, const Array& x) { return t * cos(x) * 1.0001; };
  EXPECT_THAT(problems_of(sine_kind("wrong", wrong, wrong)),
              ::testing::Contains(HasSubstr("the gradient is")));
  EXPECT_THAT(problems_of(sine_kind("wrong_forward", right, wrong)),
              ::testing::Each(HasSubstr("the forward derivative is")));
}

TEST(Walk, FailsWithAWrongSecondDerivative) {
  const Rule constant = [](const Array& t, const Array& x) { return t * stop_gradient(cos(x)); };
  EXPECT_THAT(problems_of(sine_kind("once_only", constant, right)),
              ::testing::Each(HasSubstr("the second derivative is")));
}

TEST(Walk, FailsWhereAZeroDerivativeIsNone) {
  PrimitiveKind kind = sine_kind("not_zero", right, right);
  kind.differentiability = Differentiability::Zero;
  EXPECT_THAT(problems_of(kind), ::testing::Each(HasSubstr("(zero by definition)")));
}

TEST(Walk, FailsWithoutAFloat64Sample) {
  EXPECT_THAT(problems_of(sine_kind("narrow", right, right, 3, DType::Float32)),
              ElementsAre("narrow has no sample whose derivative is checked in float64"));
}

TEST(Walk, ChecksNarrowTypesAgainstFloat64) {
  // Wrong in float32 only.
  const Rule narrow = [](const Array& t, const Array& x) {
    return x.dtype() == DType::Float32 ? t * cos(x) * 1.01 : t * cos(x);
  };
  EXPECT_THAT(problems_of(sine_kind("wrong_narrow", narrow, narrow, 3, DType::Float32)),
              ::testing::Contains(HasSubstr("the gradient is")));
}

TEST(Walk, FailsUnderAnotherName) {
  PrimitiveKind kind = sine_kind("inner_name", right, right);
  kind.name = "outer_name";
  EXPECT_THAT(problems_of(kind), ::testing::Each(HasSubstr("its primitive is called inner_name")));
}

// A shape rule that promises more than the program gives.
class Misshapen final : public Primitive {
 public:
  std::string_view name() const override { return "misshapen"; }
  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    return {{.shape = {inputs[0].shape[0] + 1}, .dtype = inputs[0].dtype}};
  }
  std::vector<std::string> lower(FunctionBuilder&, std::span<const std::string> inputs,
                                 std::span<const AbstractValue>,
                                 std::span<const AbstractValue>) const override {
    return {inputs[0]};
  }
};

TEST(Walk, FailsWhereLoweringAndShapeRuleDiffer) {
  const PrimitiveKind kind{
      .name = "misshapen",
      .differentiability = Differentiability::Zero,
      .samples = [](std::uint64_t) {
        return std::vector<PrimitiveSample>(
            3, {.primitive = std::make_shared<Misshapen>(), .inputs = {f64({3})}});
      }};
  EXPECT_THAT(problems_of(kind), ::testing::SizeIs(3));
}

}  // namespace
}  // namespace lockstep
