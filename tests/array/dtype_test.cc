#include "lockstep/array/dtype.h"

#include <set>

#include "array_test_support.h"
#include "lockstep/array/abstract_value.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EveryDType : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Array, EveryDType, ::testing::ValuesIn(all_dtypes()), dtype_name);

TEST_P(EveryDType, ComesBackFromItsNameAndItsPjrtType) {
  EXPECT_EQ(dtype_from_string(to_string(GetParam())), GetParam());
  EXPECT_EQ(dtype_from_pjrt(pjrt_element_type(GetParam())), GetParam());
}

TEST_P(EveryDType, IsOfOneCategoryAndItsBytesHoldItsBits) {
  const DType dtype = GetParam();
  EXPECT_EQ(int{dtype == DType::Bool} + int{is_floating(dtype)} + int{is_complex(dtype)} +
                int{is_integer(dtype)},
            1);
  EXPECT_EQ(is_integer(dtype), is_signed_integer(dtype) || is_unsigned_integer(dtype));
  EXPECT_FALSE(is_signed_integer(dtype) && is_unsigned_integer(dtype));
  EXPECT_EQ(byte_size(dtype), (static_cast<std::size_t>(bit_width(dtype)) + 7) / 8);
}

TEST(DType, NamesDiffer) {
  std::set<std::string_view> names;
  std::set<std::string_view> mlir_names;
  for (const DType dtype : all_dtypes()) {
    names.insert(to_string(dtype));
    mlir_names.insert(mlir_name(dtype));
  }
  EXPECT_EQ(names.size(), all_dtypes().size());
  EXPECT_EQ(mlir_names.size(), all_dtypes().size());
}

TEST(DType, NamesAreNumPysAndStableHlos) {
  EXPECT_EQ(to_string(DType::BFloat16), "bfloat16");
  EXPECT_EQ(to_string(DType::Float8E4M3FN), "float8_e4m3fn");
  EXPECT_EQ(mlir_name(DType::Float32), "f32");
  EXPECT_EQ(mlir_name(DType::Bool), "i1");
  EXPECT_EQ(mlir_name(DType::UInt8), "ui8");
  EXPECT_EQ(mlir_name(DType::Complex64), "complex<f32>");
}

TEST(DType, AnUnknownNameListsTheNames) {
  EXPECT_THAT(error_text<ValueError>([] { (void)dtype_from_string("float31"); }),
              AllOf(HasSubstr("'float31'"), HasSubstr("bool, int1"), HasSubstr("bfloat16"),
                    HasSubstr("complex128")));
}

TEST(DType, AnUnknownPjrtTypeIsNamed) {
  EXPECT_THAT(error_text<ValueError>([] { (void)dtype_from_pjrt(-5); }), HasSubstr("-5"));
}

TEST(AbstractValue, PrintsTypeShapeAndWeakness) {
  EXPECT_EQ(to_string(AbstractValue{.shape = {8, 3}}), "float32[8,3]");
  EXPECT_EQ(to_string(AbstractValue{.dtype = DType::Int32, .weak_type = true}), "int32[]*");
}

TEST(Shape, PrintsAsATuple) {
  EXPECT_EQ(to_string(Shape{8, 3}), "(8, 3)");
  EXPECT_EQ(to_string(Shape{8}), "(8,)");
  EXPECT_EQ(to_string(Shape{}), "()");
}

TEST(Shape, CountsItsElements) {
  EXPECT_EQ(num_elements(Shape{}), 1);
  EXPECT_EQ(num_elements(Shape{4, 3, 2}), 4 * 3 * 2);
  EXPECT_EQ(num_elements(Shape{std::int64_t{1} << 40, 0, std::int64_t{1} << 40}), 0);
}

TEST(Shape, NegativeLengthsAndOverflowsAreErrors) {
  EXPECT_THAT(error_text<ValueError>([] {
                (void)num_elements(Shape{2, -3});
              }),
              AllOf(HasSubstr("(2, -3)"), HasSubstr("negative length -3")));
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)num_elements(Shape{large, large});
              }),
              AllOf(HasSubstr(to_string(Shape{large, large})), HasSubstr("64-bit")));
}

}  // namespace
}  // namespace lockstep
