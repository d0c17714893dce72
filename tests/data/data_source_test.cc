#include "lockstep/data/data_source.h"

#include "data_test_support.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A batch of two rows that says its number.
Tree numbered(std::int64_t index) {
  return Tree{{"index", HostTensor::from(std::vector<std::int64_t>{index, index}, {2})}};
}

std::int64_t index_of(const Batch& batch) {
  return batch.data["index"].leaf().to_vector<std::int64_t>()[0];
}

std::string refusal(const std::function<void()>& body) {
  const std::string text = error_text<ValueError>(body);
  EXPECT_THAT(text, HasSubstr("[FunctionSource] "));
  return text;
}

TEST(FunctionSource, BatchesAreNumberedOverAllEpochs) {
  FunctionSource source(numbered, 3);
  EXPECT_EQ(source.batches_per_epoch(), 3);
  for (std::int64_t index = 0; index < 9; ++index) {
    const std::optional<Batch> batch = source.next();
    ASSERT_TRUE(batch.has_value());
    EXPECT_EQ(index_of(*batch), index);
    EXPECT_EQ(batch->num_rows, 2);
    EXPECT_EQ(batch->cursor, (Cursor{index / 3, index % 3 + 1}));
    EXPECT_EQ(source.cursor(), batch->cursor);
    if (index % 3 == 2) {
      EXPECT_FALSE(source.next().has_value());
    }
  }
  EXPECT_EQ(source.cursor(), (Cursor{3, 0}));
}

TEST(FunctionSource, AnEndlessEpochGoesOn) {
  FunctionSource source(numbered);
  EXPECT_EQ(source.batches_per_epoch(), std::nullopt);
  for (std::int64_t index = 0; index < 100; ++index) EXPECT_EQ(index_of(*source.next()), index);
  EXPECT_EQ(source.cursor(), (Cursor{0, 100}));
  EXPECT_THAT(refusal([&] { source.skip_to_next_epoch(); }),
              AllOf(HasSubstr("endless epoch"), HasSubstr("batches_per_epoch")));
}

TEST(FunctionSource, SkippingLeavesOutTheRestOfTheEpoch) {
  FunctionSource source(numbered, 3);
  (void)source.next();
  source.skip_to_next_epoch();
  source.skip_to_next_epoch();  // it stands at the beginning of an epoch: nothing to leave out
  EXPECT_EQ(index_of(*source.next()), 3);
}

TEST(FunctionSource, RestoredAnywhereItGoesOnAlike) {
  for (int calls = 0; calls < 9; ++calls) {
    FunctionSource source(numbered, 3);
    for (int i = 0; i < calls; ++i) (void)source.next();
    FunctionSource restored(numbered, 3);
    restored.restore(source.state());
    EXPECT_EQ(restored.cursor(), source.cursor());
    for (int i = 0; i < 8; ++i) {
      const std::optional<Batch> expected = source.next();
      const std::optional<Batch> found = restored.next();
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (found) {
        EXPECT_EQ(index_of(*found), index_of(*expected));
      }
    }
  }
}

TEST(FunctionSource, StateAtACursorOfABatchIsThatPlace) {
  FunctionSource source(numbered, 4);
  const Cursor early = source.next()->cursor;
  (void)source.next();
  source.restore(source.state_at(early));
  EXPECT_EQ(index_of(*source.next()), 1);
}

TEST(FunctionSource, WhatCannotBeIsRefused) {
  EXPECT_THAT(refusal([] { FunctionSource source(nullptr); }), HasSubstr("function is empty"));
  for (const std::int64_t count : {0, -2}) {
    EXPECT_THAT(
        refusal([&] { FunctionSource source(numbered, count); }),
        AllOf(HasSubstr("batches_per_epoch is " + std::to_string(count)), HasSubstr("positive")));
  }
  FunctionSource source(numbered, 3);
  (void)source.next();
  FunctionSource endless(numbered);
  EXPECT_THAT(
      refusal([&] { source.restore(endless.state_at({.position = 4})); }),
      AllOf(HasSubstr("epoch 0, batch 4"), HasSubstr("3 batches"), HasSubstr("another source")));
  EXPECT_THAT(refusal([&] { endless.restore(endless.state_at({.epoch = 1})); }),
              HasSubstr("endlessly many"));
  EXPECT_THAT(refusal([&] { source.restore(Tree{{"epoch", 0}}); }), HasSubstr("'position'"));
  EXPECT_EQ(source.cursor(), (Cursor{0, 1})) << "a refused state changes nothing";
}

TEST(NumRows, IsTheFirstLengthThatThereIs) {
  EXPECT_EQ(num_rows(Tree{{"a", 1.0}, {"b", HostTensor::zeros(float32, {5, 2})}}), 5);
  EXPECT_EQ(num_rows(Tree{{"a", 1.0}}), 1);
  EXPECT_EQ(num_rows(Tree()), 1);
}

}  // namespace
}  // namespace lockstep::data
