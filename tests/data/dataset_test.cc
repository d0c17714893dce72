#include "lockstep/data/dataset.h"

#include "data_test_support.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostTensor labels(std::int64_t rows) {
  return HostTensor::from(counting<std::int32_t>(rows), {rows});
}

std::string refusal(const std::function<void()>& body) {
  const std::string text = error_text<ValueError>(body);
  EXPECT_THAT(text, HasSubstr("[Dataset] "));
  return text;
}

TEST(Dataset, HoldsNamedColumnsOfEqualLength) {
  const Dataset data = counting_dataset(5);
  EXPECT_EQ(data.num_rows(), 5);
  EXPECT_EQ(data.columns().size(), 3U);
  EXPECT_EQ(data.column("x").values.shape(), (Shape{5, 3}));
  EXPECT_EQ(data.column("x").batch_dtype(), int32);
  EXPECT_EQ(data.column("image").batch_dtype(), float32);
  EXPECT_EQ(data.to_string(),
            "5 rows: image uint8 (2,) scaled to float32, label int32 (), x int32 (3,)");
}

TEST(Dataset, RowsAreAViewOfTheSameElements) {
  const Dataset data = counting_dataset(6);
  const Dataset part = data.rows(2, 5);
  EXPECT_EQ(part.num_rows(), 3);
  EXPECT_THAT(part.column("label").values.values<std::int32_t>(), ElementsAre(2, 3, 4));
  EXPECT_EQ(part.column("x").values.data(), data.column("x").values.rows(2, 5).data());
  EXPECT_TRUE(part.column("image").unit_scale);
  EXPECT_EQ(data.rows(6, 6).num_rows(), 0);
  EXPECT_THAT(part.rows(1, 3).column("label").values.values<std::int32_t>(), ElementsAre(3, 4));
}

TEST(Dataset, RowsThatAreNotThereAreRefused) {
  const Dataset data = counting_dataset(6);
  for (const auto& [begin, end] : {std::pair(-1, 3), std::pair(4, 3), std::pair(0, 7)}) {
    EXPECT_THAT(refusal([&] { (void)data.rows(begin, end); }),
                AllOf(HasSubstr("[" + std::to_string(begin) + ", " + std::to_string(end) + ")"),
                      HasSubstr("6 rows")));
  }
}

TEST(Dataset, StridedColumnsBecomeRowMajor) {
  const HostTensor table = HostTensor::from(counting<float>(6), {2, 3});
  const std::int64_t reversed[] = {1, 0};
  const Dataset data({{"x", table.transpose(reversed)}});
  EXPECT_EQ(data.num_rows(), 3);
  EXPECT_THAT(data.column("x").values.values<float>(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Dataset, ColumnsOfDifferentLengthsAreAllNamed) {
  EXPECT_THAT(refusal([] {
                Dataset({{"image", labels(5)}, {"label", labels(4)}, {"z", labels(5)}});
              }),
              AllOf(HasSubstr("'image' 5"), HasSubstr("'label' 4"), HasSubstr("'z' 5"),
                    HasSubstr("one row for each example")));
}

TEST(Dataset, WhatCannotBeAColumnIsRefusedByName) {
  EXPECT_THAT(refusal([] { Dataset(std::map<std::string, Column>()); }),
              AllOf(HasSubstr("no columns"), HasSubstr("at least one")));
  EXPECT_THAT(refusal([] {
                Dataset({{"rate", HostTensor::scalar(1.0F)}});
              }),
              AllOf(HasSubstr("'rate'"), HasSubstr("scalar"), HasSubstr("(rows, ...)")));
  const float borrowed[] = {1, 2};
  EXPECT_THAT(
      refusal([&] {
        Dataset({{"x", HostTensor::borrow(borrowed, float32, {2})}});
      }),
      AllOf(HasSubstr("'x'"), HasSubstr("borrows"), HasSubstr("adopt"), HasSubstr("clone")));
  EXPECT_THAT(refusal([] {
                Dataset({{"y", Column(labels(3), true)}});
              }),
              AllOf(HasSubstr("'y'"), HasSubstr("int32"), HasSubstr("expected uint8")));
}

TEST(Dataset, AnUnknownColumnListsThoseThereAre) {
  EXPECT_THAT(refusal([] { (void)counting_dataset(2).column("images"); }),
              AllOf(HasSubstr("no column 'images'"), HasSubstr("image, label, x")));
}

}  // namespace
}  // namespace lockstep::data
