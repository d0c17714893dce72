#include "lockstep/array/host_tensor.h"

#include <array>
#include <cstring>

#include "array_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> values_of(const HostTensor& tensor) {
  const HostTensor dense = tensor.contiguous();
  const auto values = dense.values<float>();
  return {values.begin(), values.end()};
}

TEST(HostTensor, OwnedMemoryIsAligned) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{1000, 3}}) {
    const HostTensor tensor = HostTensor::empty(DType::Float32, shape);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % HostTensor::alignment, 0U);
    EXPECT_TRUE(tensor.is_owned());
    EXPECT_TRUE(tensor.is_contiguous());
  }
  EXPECT_THAT(values_of(HostTensor::zeros(DType::Float32, {5})), Each(0.0F));
}

TEST(HostTensor, FromTakesExactlyTheShapesValues) {
  const HostTensor tensor = HostTensor::from(std::vector<std::int16_t>{1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(tensor.dtype(), DType::Int16);
  EXPECT_EQ(tensor.num_bytes(), 12U);
  EXPECT_THAT(tensor.byte_strides(), ElementsAre(6, 2));
  EXPECT_THAT(error_text<ValueError>([] {
                (void)HostTensor::from(std::vector<float>{1, 2}, {2, 2});
              }),
              AllOf(HasSubstr("2 values"), HasSubstr("(2, 2)"), HasSubstr("4 elements")));
  EXPECT_THAT(error_text<ValueError>([] { (void)HostTensor::from(std::vector<bool>{true}, {2}); }),
              AllOf(HasSubstr("1 values"), HasSubstr("(2,)")));
}

TEST(HostTensor, TakesVectorsOfBool) {
  const HostTensor tensor = HostTensor::from(std::vector<bool>{true, false, true}, {3});
  EXPECT_EQ(tensor.dtype(), DType::Bool);
  EXPECT_THAT(tensor.values<bool>(), ElementsAre(true, false, true));
}

TEST(HostTensor, CopiesShareUntilOneIsWritten) {
  HostTensor first = ramp_tensor({4});
  HostTensor second = first;
  EXPECT_EQ(first.data(), second.data());
  second.mutable_values<float>()[0] = 9;
  EXPECT_NE(first.data(), second.data());
  EXPECT_THAT(values_of(first), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(values_of(second), ElementsAre(9, 1, 2, 3));
  const std::byte* const before = first.data();
  first.mutable_values<float>()[0] = 5;  // the only holder writes in place
  EXPECT_EQ(first.data(), before);
}

TEST(HostTensor, WritingToAViewLeavesTheRestAlone) {
  const HostTensor whole = ramp_tensor({4, 2});
  HostTensor rows = whole.rows(1, 3);
  rows.mutable_values<float>()[0] = -1;
  EXPECT_THAT(values_of(rows), ElementsAre(-1, 3, 4, 5));
  EXPECT_EQ(values_of(whole), ramp(8));
}

TEST(HostTensor, BorrowedAndAdoptedMemoryIsNeverWritten) {
  std::vector<float> memory = ramp(4);
  HostTensor borrowed = HostTensor::borrow(memory.data(), DType::Float32, {4});
  EXPECT_FALSE(borrowed.is_owned());
  borrowed.mutable_values<float>()[0] = 7;
  EXPECT_TRUE(borrowed.is_owned());
  const auto owner = std::make_shared<std::vector<float>>(memory);
  HostTensor adopted = HostTensor::adopt(owner, owner->data(), DType::Float32, {4});
  EXPECT_TRUE(adopted.is_owned());
  adopted.mutable_values<float>()[0] = 8;
  EXPECT_EQ(memory, ramp(4));
  EXPECT_EQ(*owner, ramp(4));
}

TEST(HostTensor, AdoptKeepsItsOwnerAlive) {
  auto owner = std::make_shared<std::vector<float>>(ramp(3));
  const std::weak_ptr<std::vector<float>> watch = owner;
  {
    const HostTensor tensor =
        HostTensor::adopt(owner, owner->data(), DType::Float32, {3}).rows(1, 3);
    owner.reset();
    EXPECT_THAT(values_of(tensor), ElementsAre(1, 2));
  }
  EXPECT_TRUE(watch.expired());
}

TEST(HostTensor, BadMemoryIsAnError) {
  const float value = 0;
  EXPECT_THAT(
      error_text<ValueError>([] { (void)HostTensor::borrow(nullptr, DType::Float32, {2}); }),
      AllOf(HasSubstr("float32 (2,)"), HasSubstr("null pointer")));
  EXPECT_NO_THROW((void)HostTensor::borrow(nullptr, DType::Float32, {0, 3}));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)HostTensor::borrow(&value, DType::Float32, {1, 1}, {4});
              }),
              AllOf(HasSubstr("1 byte strides"), HasSubstr("(1, 1)")));
  EXPECT_THAT(error_text<ValueError>(
                  [&] { (void)HostTensor::adopt(nullptr, &value, DType::Float32, {1}); }),
              AllOf(HasSubstr("owner is null"), HasSubstr("use borrow")));
  EXPECT_THAT(error_text<ValueError>(
                  [] { (void)HostTensor::empty(DType::Complex128, {std::int64_t{1} << 60}); }),
              AllOf(HasSubstr("complex128"), HasSubstr("64 bits")));
}

TEST(HostTensor, ValuesNeedTheRightTypeLayoutAndAlignment) {
  const HostTensor tensor = ramp_tensor({2, 3});
  EXPECT_THAT(error_text<ValueError>([&] { (void)tensor.values<double>(); }),
              AllOf(HasSubstr("are float32, not float64"), HasSubstr("cast")));
  const std::array<std::int64_t, 2> swap{1, 0};
  EXPECT_THAT(error_text<ValueError>([&] { (void)tensor.transpose(swap).values<float>(); }),
              AllOf(HasSubstr("(3, 2)"), HasSubstr("(4, 12)"), HasSubstr("contiguous()")));
  std::array<std::byte, 12> bytes{};
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const HostTensor crooked =
      HostTensor::borrow(bytes.data() + (address % 4 == 0 ? 1 : 0), DType::Float32, {2});
  EXPECT_THAT(error_text<ValueError>([&] { (void)crooked.values<float>(); }),
              AllOf(HasSubstr("multiple of 4"), HasSubstr("clone()")));
  EXPECT_THAT(crooked.clone().values<float>(), Each(0.0F));
  EXPECT_EQ(tensor.values<std::byte>().size(), 24U);
}

TEST(HostTensor, TransposesWithoutMovingBytes) {
  const HostTensor tensor = ramp_tensor({2, 3, 4});
  const std::array<std::int64_t, 3> order{2, 0, 1};
  const HostTensor view = tensor.transpose(order);
  EXPECT_EQ(view.data(), tensor.data());
  EXPECT_EQ(view.shape(), (Shape{4, 2, 3}));
  EXPECT_FALSE(view.is_contiguous());
  std::vector<float> expected;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) expected.push_back(static_cast<float>((i * 3 + j) * 4 + k));
    }
  }
  EXPECT_EQ(values_of(view), expected);
  for (const auto& bad : {std::vector<std::int64_t>{0, 1}, {0, 1, 1}, {0, 1, 3}, {-1, 0, 1}}) {
    EXPECT_THAT(error_text<ValueError>([&] { (void)tensor.transpose(bad); }),
                AllOf(HasSubstr(to_string(Shape(bad))), HasSubstr("no permutation"),
                      HasSubstr("(2, 3, 4)")));
  }
}

TEST(HostTensor, ReadsNegativeAndZeroStrides) {
  const std::vector<float> memory = ramp(6);
  const HostTensor backwards =
      HostTensor::borrow(memory.data() + 5, DType::Float32, {2, 3}, {-12, -4});
  EXPECT_THAT(values_of(backwards), ElementsAre(5, 4, 3, 2, 1, 0));
  const HostTensor repeated = HostTensor::borrow(memory.data(), DType::Float32, {2, 3}, {0, 4});
  EXPECT_THAT(values_of(repeated), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(HostTensor, StridesOfLengthOneAndOfEmptyTensorsDoNotMatter) {
  const std::vector<float> memory = ramp(3);
  EXPECT_TRUE(
      HostTensor::borrow(memory.data(), DType::Float32, {1, 3, 1}, {999, 4, -7}).is_contiguous());
  EXPECT_TRUE(HostTensor::borrow(memory.data(), DType::Float32, {0, 3}, {999, 1}).is_contiguous());
}

TEST(HostTensor, SlicesAndRowsAreViews) {
  const HostTensor tensor = ramp_tensor({4, 3});
  const std::vector<std::pair<std::int64_t, std::int64_t>> ranges{{1, 3}, {1, 2}};
  const HostTensor part = tensor.slice(ranges);
  EXPECT_EQ(part.shape(), (Shape{2, 1}));
  EXPECT_THAT(values_of(part), ElementsAre(4, 7));
  EXPECT_EQ(part.data(), tensor.data() + 16);
  EXPECT_THAT(values_of(tensor.rows(3, 4)), ElementsAre(9, 10, 11));
  EXPECT_EQ(tensor.rows(4, 4).shape(), (Shape{0, 3}));
}

TEST(HostTensor, RowsAndSlicesOutsideAreErrors) {
  const HostTensor tensor = ramp_tensor({4, 3});
  for (const auto& [begin, end] : {std::pair{-1, 2}, std::pair{2, 1}, std::pair{0, 5}}) {
    EXPECT_THAT(error_text<ValueError>([&, b = begin, e = end] { (void)tensor.rows(b, e); }),
                AllOf(HasSubstr("[" + std::to_string(begin) + ", " + std::to_string(end) + ")"),
                      HasSubstr("(4, 3)")));
  }
  EXPECT_THAT(error_text<ValueError>([] { (void)HostTensor::scalar(1.0F).rows(0, 1); }),
              HasSubstr("()"));
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)tensor.slice(Ranges{{0, 1}});
              }),
              AllOf(HasSubstr("1 ranges"), HasSubstr("(4, 3)")));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)tensor.slice(Ranges{{0, 1}, {2, 4}});
              }),
              AllOf(HasSubstr("[2, 4)"), HasSubstr("dimension 1"), HasSubstr("(4, 3)")));
}

TEST(HostTensor, ReshapeKeepsTheElements) {
  const HostTensor tensor = ramp_tensor({2, 3});
  EXPECT_EQ(tensor.reshape({3, 2}).data(), tensor.data());
  const std::array<std::int64_t, 2> swap{1, 0};
  EXPECT_THAT(values_of(tensor.transpose(swap).reshape({6})), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(error_text<ValueError>([&] { (void)tensor.reshape({4}); }),
              AllOf(HasSubstr("(4,) has 4"), HasSubstr("(2, 3) has 6")));
}

TEST(HostTensor, IdenticalComparesTypeShapeAndBits) {
  const HostTensor tensor = ramp_tensor({2, 2});
  EXPECT_TRUE(tensor.identical(tensor.clone()));
  EXPECT_FALSE(tensor.identical(tensor.reshape({4})));
  EXPECT_FALSE(tensor.identical(cast(tensor, DType::Int32)));
  const HostTensor nan = HostTensor::scalar(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(nan.identical(nan.clone()));
  EXPECT_FALSE(HostTensor::scalar(0.0F).identical(HostTensor::scalar(-0.0F)));
  const std::array<std::int64_t, 2> swap{1, 0};
  EXPECT_TRUE(tensor.identical(tensor.transpose(swap).clone().transpose(swap)));
}

TEST(HostTensor, TheDefaultIsEmpty) {
  const HostTensor tensor;
  EXPECT_EQ(tensor.dtype(), DType::Float32);
  EXPECT_EQ(tensor.shape(), Shape{0});
  EXPECT_EQ(tensor.num_bytes(), 0U);
  EXPECT_TRUE(tensor.values<float>().empty());
}

}  // namespace
}  // namespace lockstep
