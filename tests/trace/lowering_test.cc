// The StableHLO text: its ops, shardings, donations and constants, and that it is always the same.
#include "lockstep/trace/lowering.h"

#include <map>

#include "lockstep/trace/compiled_program.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/trace/registry.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string lowered(const FlatFunction& function, const std::vector<AbstractValue>& inputs,
                    const LoweringOptions& options = {}) {
  const RecordedFunction recorded = record(function, inputs);
  return lower_graph(*recorded.graph, recorded.outputs, options).text;
}

const AbstractValue matrix{.shape = {2, 3}};

// The op that a primitive is printed as; "" for those that print none of their own.
const std::map<std::string, std::string>& ops_by_primitive() {
  static const std::map<std::string, std::string> ops = {
      {"abs", "stablehlo.abs"},
      {"acos", "chlo.acos"},
      {"acosh", "chlo.acosh"},
      {"add", "stablehlo.add"},
      {"and", "stablehlo.and"},
      {"argmax", "stablehlo.reduce"},
      {"argmin", "stablehlo.reduce"},
      {"asin", "chlo.asin"},
      {"asinh", "chlo.asinh"},
      {"atan", "chlo.atan"},
      {"atan2", "stablehlo.atan2"},
      {"atanh", "chlo.atanh"},
      {"bitcast", "stablehlo.bitcast_convert"},
      {"broadcast_in_dim", "stablehlo.broadcast_in_dim"},
      {"cbrt", "stablehlo.cbrt"},
      {"ceil", "stablehlo.ceil"},
      {"compare", "stablehlo.compare"},
      {"concatenate", "stablehlo.concatenate"},
      {"constant", "stablehlo.constant"},
      {"conv_general_dilated", "stablehlo.convolution"},
      {"convert", "stablehlo.convert"},
      {"cos", "stablehlo.cosine"},
      {"cosh", "chlo.cosh"},
      {"cumsum", ""},
      {"div", "stablehlo.divide"},
      {"dot_general", "stablehlo.dot_general"},
      {"dynamic_slice", "stablehlo.dynamic_slice"},
      {"dynamic_update_slice", "stablehlo.dynamic_update_slice"},
      {"erf", "chlo.erf"},
      {"erf_inv", "chlo.erf_inv"},
      {"exp", "stablehlo.exponential"},
      {"expm1", "stablehlo.exponential_minus_one"},
      {"floor", "stablehlo.floor"},
      {"gather", "stablehlo.gather"},
      {"identity", ""},
      {"integer_pow", "stablehlo.multiply"},
      {"iota", "stablehlo.iota"},
      {"is_finite", "stablehlo.is_finite"},
      {"log", "stablehlo.log"},
      {"log1p", "stablehlo.log_plus_one"},
      {"logistic", "stablehlo.logistic"},
      {"max", "stablehlo.maximum"},
      {"min", "stablehlo.minimum"},
      {"mul", "stablehlo.multiply"},
      {"neg", "stablehlo.negate"},
      {"not", "stablehlo.not"},
      {"optimization_barrier", "stablehlo.optimization_barrier"},
      {"or", "stablehlo.or"},
      {"pad", "stablehlo.pad"},
      {"population_count", "stablehlo.popcnt"},
      {"pow", "stablehlo.power"},
      {"reduce_and", "stablehlo.and"},
      {"reduce_max", "stablehlo.maximum"},
      {"reduce_min", "stablehlo.minimum"},
      {"reduce_or", "stablehlo.or"},
      {"reduce_prod", "stablehlo.multiply"},
      {"reduce_sum", "stablehlo.reduce"},
      {"reduce_window_max", "stablehlo.reduce_window"},
      {"reduce_window_min", "stablehlo.reduce_window"},
      {"reduce_window_sum", "stablehlo.reduce_window"},
      {"rem", "stablehlo.remainder"},
      {"reshape", "stablehlo.reshape"},
      {"reverse", "stablehlo.reverse"},
      {"round", "stablehlo.round_nearest_even"},
      {"rsqrt", "stablehlo.rsqrt"},
      {"scatter_add", "stablehlo.scatter"},
      {"select", "stablehlo.select"},
      {"shift_left", "stablehlo.shift_left"},
      {"shift_right_arithmetic", "stablehlo.shift_right_arithmetic"},
      {"shift_right_logical", "stablehlo.shift_right_logical"},
      {"sign", "stablehlo.sign"},
      {"sin", "stablehlo.sine"},
      {"sinh", "chlo.sinh"},
      {"slice", "stablehlo.slice"},
      {"sqrt", "stablehlo.sqrt"},
      {"stop_gradient", ""},
      {"sub", "stablehlo.subtract"},
      {"tan", "stablehlo.tan"},
      {"tanh", "stablehlo.tanh"},
      {"threefry2x32", "threefry2x32"},
      {"transpose", "stablehlo.transpose"},
      {"xor", "stablehlo.xor"}};
  return ops;
}

TEST(Lowering, EveryPrimitiveIsPrintedAsItsOp) {
  for (const PrimitiveKind& kind : primitive_kinds()) {
    SCOPED_TRACE(kind.name);
    ASSERT_TRUE(ops_by_primitive().contains(kind.name)) << "it has no line in this test";
    const std::string& op = ops_by_primitive().at(kind.name);
    bool is_printed = op.empty();
    for (const PrimitiveSample& sample : kind.samples(1)) {
      const FlatFunction function = [&](std::span<const Array> x) {
        return lockstep::apply(sample.primitive, x);
      };
      const std::string text = lowered(function, sample.inputs);
      EXPECT_EQ(text, lowered(function, sample.inputs)) << "another text the second time";
      is_printed = is_printed || text.find(op) != std::string::npos;
    }
    EXPECT_TRUE(is_printed);
  }
  EXPECT_EQ(primitive_kinds().size(), ops_by_primitive().size());
}

// The whole text of a small program: what is printed where.
TEST(Lowering, PrintsAModule) {
  const std::string text = lowered(
      [](std::span<const Array> x) {
        return std::vector<Array>{x[0] + x[1], sin(x[0])};
      },
      {matrix, matrix}, {.name = "my program"});
  EXPECT_THAT(text, HasSubstr("module @my_program"));
  EXPECT_THAT(text, HasSubstr("func.func public @main(%arg0: tensor<2x3xf32>, %arg1: "
                              "tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.add\"(%arg0, %arg1)"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.sine\"(%arg0)"));
  EXPECT_THAT(text, HasSubstr("return"));
}

TEST(Lowering, LeavesOutWhatIsNotUsed) {
  const std::string text = lowered(
      [](std::span<const Array> x) {
        (void)(exp(x[0]) + floats({1, 2, 3}));
        return std::vector<Array>{x[0]};
      },
      {matrix});
  EXPECT_THAT(text, Not(HasSubstr("exponential")));
  EXPECT_THAT(text, Not(HasSubstr("constant")));
}

TEST(Lowering, PrintsTheGradientOfAMatmulAsProducts) {
  const auto loss = [](const Array& w, const Array& x) { return mean(square(matmul(x, w))); };
  const std::string text =
      jit(grad(loss)).lower(shape_dtype_struct({3, 4}), shape_dtype_struct({5, 3}));
  EXPECT_THAT(text, HasSubstr("stablehlo.dot_general"));
  EXPECT_THAT(text, HasSubstr("tensor<3x4xf32>"));
}

TEST(Lowering, PrintsNonFiniteConstantsByTheirBits) {
  const std::string text = lowered(
      [](std::span<const Array> x) {
        return std::vector<Array>{x[0] + std::numeric_limits<float>::infinity(),
                                  x[0] + floats({NAN, -INFINITY, 1})};
      },
      {matrix});
  EXPECT_THAT(text, HasSubstr("0x7F800000"));
  EXPECT_THAT(text, HasSubstr("0xFF800000"));
}

TEST(Lowering, HoistsConstantsThatAreTooLargeToPrint) {
  const Array large = random_array({3, 1000});
  const Array splat = HostTensor::zeros(float32, {3, 1000});
  const RecordedFunction f = record(
      [&](std::span<const Array> x) {
        return std::vector<Array>{matmul(x[0], large), matmul(x[0], splat)};
      },
      std::vector{matrix});
  const LoweredModule module = lower_graph(*f.graph, f.outputs);
  ASSERT_EQ(module.hoisted_constants.size(), 1u);
  expect_same(module.hoisted_constants[0], large);
  EXPECT_EQ(module.parameters.size(), 1u);
  EXPECT_THAT(module.text, HasSubstr("%arg1: tensor<3x1000xf32>"));
  EXPECT_LT(module.text.size(), 3000u);
}

TEST(Lowering, PrintsMeshAndShardings) {
  const Mesh mesh({devices("cpu").begin(), devices("cpu").begin() + 4}, {"data", "model"}, {2, 2});
  const std::string text = lowered(
      [](std::span<const Array> x) {
        return std::vector<Array>{x[0] + 1.0, sum(x[0])};
      },
      {{.shape = {4, 6}}},
      {.mesh = mesh,
       .parameter_specs = {{{"data"}, {"model"}}},
       .output_specs = {{{"data", "model"}}, {}}});
  EXPECT_THAT(text, HasSubstr(R"(sdy.mesh @mesh = <["data"=2, "model"=2]>)"));
  EXPECT_THAT(text, HasSubstr(R"(sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>)"));
  EXPECT_THAT(text, HasSubstr(R"(sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}, {}]>)"));
  EXPECT_THAT(text, HasSubstr(R"(sdy.sharding = #sdy.sharding<@mesh, []>)"));
}

TEST(ShardingText, HasOneEntryForEachDimension) {
  EXPECT_EQ(sharding_text({}, 2), "#sdy.sharding<@mesh, [{}, {}]>");
  EXPECT_EQ(sharding_text({{}, {"a", "b"}}, 3), R"(#sdy.sharding<@mesh, [{}, {"a", "b"}, {}]>)");
  EXPECT_EQ(sharding_text({}, 0), "#sdy.sharding<@mesh, []>");
}

// A donated parameter is aliased to the first free result of its type; without one it is only
// freed.
TEST(Lowering, AliasesDonatedParameters) {
  const RecordedFunction f = record(
      [](std::span<const Array> x) {
        return std::vector<Array>{sum(x[0]), x[0] + 1.0, x[1] + 1.0, x[0] * 2.0};
      },
      std::vector<AbstractValue>{matrix, matrix, {.shape = {7}}, matrix, matrix});
  const LoweredModule module =
      lower_graph(*f.graph, f.outputs, {.donated = {true, false, true, true, true}});
  EXPECT_EQ(module.aliased_output, (std::vector<std::int64_t>{1, -1, -1, 2, 3}));
  EXPECT_THAT(module.text, HasSubstr("%arg0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}"));
  EXPECT_THAT(module.text, HasSubstr("%arg1: tensor<2x3xf32>,"));
  EXPECT_THAT(module.text, HasSubstr("%arg2: tensor<7xf32> {jax.buffer_donor = true}"));
}

TEST(Lowering, RefusesValuesOfAnEnclosingTrace) {
  const auto outer = [](const Array& x) {
    const RecordedFunction f =
        record([&](std::span<const Array> y) { return std::vector<Array>{x + y[0]}; },
               std::vector{AbstractValue{.shape = {3}}});
    (void)lower_graph(*f.graph, f.outputs);
    return x;
  };
  expect_value_error(
      [&] {
        (void)jit(outer)(floats({1, 2, 3}));
      },
      {"[lower]", "enclosing trace", "float32[3]", "argument"});
}

TEST(MlirType, NamesShapeAndElement) {
  EXPECT_EQ(mlir_type({.shape = {8, 3}, .dtype = bfloat16}), "tensor<8x3xbf16>");
  EXPECT_EQ(mlir_type({.shape = {}, .dtype = bool_}), "tensor<i1>");
  EXPECT_EQ(mlir_type({.shape = {0}, .dtype = complex64}), "tensor<0xcomplex<f32>>");
}

}  // namespace
}  // namespace lockstep
