// The promotion lattice against JAX (expected_promotion.h, written by make_expected_promotion.py).
#include "lockstep/trace/promotion.h"

#include <thread>

#include "lockstep/trace/ops.h"
#include "trace/expected_promotion.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

PromotedType type_named(std::string name) {
  const bool weak = name.ends_with("*");
  if (weak) name.pop_back();
  return {dtype_from_string(name), weak};
}

std::string name_of(PromotedType type) {
  return std::string(to_string(type.dtype)) + (type.weak_type ? "*" : "");
}

std::string promoted_name(const std::string& a, const std::string& b) {
  try {
    return name_of(promote_types(type_named(a), type_named(b)));
  } catch (const ValueError&) {
    return "";
  }
}

void expect_table(const ExpectedPromotions& expected) {
  ASSERT_GE(expected.types.size(), 15u);
  for (std::size_t a = 0; a < expected.types.size(); ++a) {
    for (std::size_t b = 0; b < expected.types.size(); ++b) {
      EXPECT_EQ(promoted_name(expected.types[a], expected.types[b]), expected.results[a][b])
          << expected.types[a] << " with " << expected.types[b];
    }
  }
  for (std::size_t i = 0; i < expected.operands.size(); ++i) {
    EXPECT_EQ(name_of(to_inexact(type_named(expected.operands[i]))), expected.inexact[i])
        << expected.operands[i];
  }
}

TEST(Promotion, EqualsJaxWith64BitDefaults) {
  const DefaultWidthScope wide(DefaultWidth::Bits64);
  expect_table(expected_bits64);
}

TEST(Promotion, EqualsJaxWith32BitDefaults) {
  expect_table(expected_bits32);
}

TEST(Promotion, KeepsWideTypesWith32BitDefaults) {
  EXPECT_EQ(promote_types(DType::Int64, DType::Int32), DType::Int64);
  EXPECT_EQ(promote_types(DType::Float64, DType::Float32), DType::Float64);
  EXPECT_EQ(promote_types(DType::Float64, DType::Complex64), DType::Complex128);
}

TEST(Promotion, NamesBothTypesWhereThereIsNone) {
  expect_value_error([] { (void)promote_types(DType::Float8E4M3FN, DType::BFloat16); },
                     {"[promote_types]", "float8_e4m3fn", "bfloat16", "no common type", "astype"});
}

TEST(Promotion, LiteralsTakeTheTypeTheyMeet) {
  const Array half = random_array({3}, 0, 1, 1, DType::BFloat16);
  EXPECT_EQ((half * 2.5).dtype(), DType::BFloat16);
  EXPECT_EQ((2 * half).dtype(), DType::BFloat16);
  EXPECT_EQ((ints({1, 2}) * 2).dtype(), DType::Int32);
  EXPECT_EQ((ints({1, 2}) * 2.5).dtype(), DType::Float32);
  EXPECT_EQ((doubles({1}) + 1).dtype(), DType::Float64);
  EXPECT_EQ((array_of<bool>({true}, {1}) + 1).dtype(), DType::Int32);
  EXPECT_FALSE((half * 2.5).weak_type());
}

TEST(Promotion, AnIntegerArrayWithAFloatingLiteralIsAWeakFloat) {
  const Array count = HostTensor::scalar<std::int32_t>(3);
  const Array scaled = 0.5 * count;
  EXPECT_TRUE(scaled.weak_type());
  EXPECT_EQ(scaled.dtype(), DType::Float32);
  EXPECT_EQ((scaled * HostTensor::scalar(BFloat16(2.0F))).dtype(), DType::BFloat16);
  EXPECT_TRUE((HostTensor::scalar(true) * Array(2)).weak_type());
}

TEST(Promotion, OpsOnLiteralsStayWeak) {
  const Array weak = Array(2) * 3;
  EXPECT_TRUE(weak.weak_type());
  EXPECT_EQ(weak.dtype(), DType::Int32);
  EXPECT_EQ((weak + random_array({2}, 0, 1, 1, DType::BFloat16)).dtype(), DType::BFloat16);
  EXPECT_TRUE(sqrt(Array(4.0)).weak_type());
}

// A literal is converted from the number that was written, not from its 32-bit rounding.
TEST(Promotion, LiteralsKeepTheirDigitsIn64Bits) {
  expect_near(doubles({0}) + 0.1, {0.1}, 0);
  expect_near(array_of<std::int64_t>({0}, {1}) + 5000000000, {5e9}, 0);
}

TEST(Promotion, ALiteralTooLargeForItsTypeIsRefused) {
  expect_value_error([] { (void)(ints({1}) + 5000000000); }, {"5000000000", "int32"});
}

TEST(DefaultWidthScope, SetsAndRestoresTheDefaultsOfItsThread) {
  EXPECT_EQ(default_width(), DefaultWidth::Bits32);
  {
    const DefaultWidthScope wide(DefaultWidth::Bits64);
    EXPECT_EQ(default_float_dtype(), DType::Float64);
    EXPECT_EQ(default_int_dtype(), DType::Int64);
    EXPECT_EQ(default_uint_dtype(), DType::UInt64);
    EXPECT_EQ(default_complex_dtype(), DType::Complex128);
    EXPECT_EQ(zeros({1}).dtype(), DType::Float64);
    EXPECT_EQ(arange(3).dtype(), DType::Int64);
    EXPECT_EQ(argmax(floats({1, 2})).dtype(), DType::Int64);
    EXPECT_EQ((Array(1) + 1.5).dtype(), DType::Float64);
    std::thread([] { EXPECT_EQ(default_width(), DefaultWidth::Bits32); }).join();
    {
      const DefaultWidthScope narrow(DefaultWidth::Bits32);
      EXPECT_EQ(zeros({1}).dtype(), DType::Float32);
    }
    EXPECT_EQ(default_width(), DefaultWidth::Bits64);
  }
  EXPECT_EQ(default_float_dtype(), DType::Float32);
  EXPECT_EQ(default_int_dtype(), DType::Int32);
  EXPECT_EQ(default_uint_dtype(), DType::UInt32);
  EXPECT_EQ(default_complex_dtype(), DType::Complex64);
}

TEST(BroadcastShapes, FollowNumPy) {
  const auto shape = [](std::vector<Shape> shapes) { return broadcast_shapes("op", shapes); };
  EXPECT_EQ(shape({{2, 3}, {3}}), (Shape{2, 3}));
  EXPECT_EQ(shape({{2, 1}, {1, 3}}), (Shape{2, 3}));
  EXPECT_EQ(shape({{}, {0, 2}, {1}}), (Shape{0, 2}));
  EXPECT_EQ(shape({{1}, {0}}), (Shape{0}));
  EXPECT_EQ(shape({}), (Shape{}));
}

TEST(BroadcastShapes, NameTheOpTheShapesAndTheAxis) {
  expect_value_error(
      [] {
        (void)broadcast_shapes("my_op", std::vector<Shape>{{2, 3}, {4, 3}});
      },
      {"[my_op]", "(2, 3)", "(4, 3)", "axis 2 from the end", "equal or 1"});
  // The op that the user called is the one that is named.
  expect_value_error(
      [] {
        (void)(random_array({2, 3}) + random_array({2}));
      },
      {"[add]", "(2, 3)", "(2,)", "do not broadcast"});
  expect_value_error(
      [] {
        (void)maximum(random_array({2, 3}), random_array({4, 3}));
      },
      {"[max", "(2, 3)", "(4, 3)"});
}

}  // namespace
}  // namespace lockstep
