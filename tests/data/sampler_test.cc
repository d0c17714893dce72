#include "lockstep/data/sampler.h"

#include <numeric>
#include <set>

#include "data_test_support.h"
#include "expected_orders.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Rows = std::vector<std::int64_t>;

Sampler sampler(std::int64_t rows, std::int64_t batch_size, std::uint64_t seed = 0,
                bool drop_last = true) {
  return {rows,
          {.batch_size = batch_size, .drop_last = drop_last, .epoch_bits = host_epoch_bits},
          {.key = sampler_key(seed)}};
}

std::string refusal(const std::function<void()>& body) {
  const std::string text = error_text<ValueError>(body);
  EXPECT_THAT(text, HasSubstr("[Sampler] "));
  return text;
}

// All rows of the epoch that the sampler is in, batch after batch.
Rows epoch_of(Sampler& sampler) {
  Rows all;
  for (Rows rows = sampler.next(); !rows.empty(); rows = sampler.next()) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

TEST(Sampler, TheOrderIsThatOfJaxsRandomBits) {
  for (const ExpectedOrder& expected : expected_orders) {
    const auto bits =
        threefry_epoch_bits(sampler_key(expected.seed), expected.epoch, expected.rows);
    ASSERT_EQ(static_cast<std::int64_t>(bits.size()), expected.rows);
    Rows order = permutation_of(bits);
    order.resize(expected.first.size());
    EXPECT_EQ(order, expected.first) << "seed " << expected.seed << ", epoch " << expected.epoch;
  }
}

TEST(Sampler, ByDefaultItDrawsJaxsOrder) {
  const ExpectedOrder& expected = expected_orders[0];
  Sampler defaults(expected.rows, {.batch_size = 3, .drop_last = false},
                   {.key = sampler_key(expected.seed), .epoch = expected.epoch});
  EXPECT_EQ(epoch_of(defaults), expected.first);
}

TEST(Sampler, AKeyOnADeviceGivesTheSameOrder) {
  const Device device = devices("cpu").at(2);
  const Array key = device_put(sampler_key(42), SingleDeviceSharding{device});
  EXPECT_EQ(threefry_epoch_bits(key, 7, 100), threefry_epoch_bits(sampler_key(42), 7, 100));
}

TEST(Sampler, PermutationSortsStably) {
  EXPECT_THAT(permutation_of({5, 0xffffffffU, 5, 0, 5}), ElementsAre(3, 0, 2, 4, 1));
  EXPECT_THAT(permutation_of({}), ElementsAre());
  const auto bits = host_epoch_bits(sampler_key(3), 0, 5000);
  std::vector<std::uint32_t> coarse = bits;
  for (std::uint32_t& value : coarse) value &= 0xff00ff00U;  // many equal ones, at every digit
  Rows expected(coarse.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
    return coarse[static_cast<std::size_t>(a)] < coarse[static_cast<std::size_t>(b)];
  });
  EXPECT_EQ(permutation_of(coarse), expected);
}

TEST(Sampler, EveryEpochHasEveryRowOnceInAnOrderOfItsOwn) {
  Sampler source = sampler(103, 10, 1, false);
  std::set<Rows> orders;
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(source.state().epoch, epoch);
    Rows rows = epoch_of(source);
    orders.insert(rows);
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, counting<std::int64_t>(103));
  }
  EXPECT_EQ(orders.size(), 4U);
}

TEST(Sampler, SeedAndEpochAloneDetermineTheOrder) {
  Sampler one = sampler(50, 7, 9);
  Sampler same = sampler(50, 7, 9);
  Sampler other = sampler(50, 7, 10);
  const Rows first = epoch_of(one);
  EXPECT_EQ(epoch_of(same), first);
  EXPECT_NE(epoch_of(other), first);
  // Another batch size cuts the same order otherwise.
  Sampler cut = sampler(50, 49, 9);
  const Rows cut_rows = epoch_of(cut);
  EXPECT_TRUE(std::equal(cut_rows.begin(), cut_rows.end(), first.begin()));
}

TEST(Sampler, DropLastLeavesTheShortBatchOut) {
  Sampler drops = sampler(10, 4);
  EXPECT_EQ(drops.batches_per_epoch(), 2);
  EXPECT_EQ(epoch_of(drops).size(), 8U);
  Sampler keeps = sampler(10, 4, 0, false);
  EXPECT_EQ(keeps.batches_per_epoch(), 3);
  EXPECT_EQ(keeps.next().size(), 4U);
  EXPECT_EQ(keeps.next().size(), 4U);
  EXPECT_EQ(keeps.next().size(), 2U);
  EXPECT_EQ(keeps.state().position, 10);
  EXPECT_TRUE(keeps.next().empty());
  EXPECT_EQ(keeps.state().epoch, 1);
  EXPECT_EQ(keeps.state().position, 0);
}

TEST(Sampler, WithoutShuffleRowsComeAsTheyAreStored) {
  Sampler source(5, {.batch_size = 2, .shuffle = false, .drop_last = false}, {});
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_THAT(source.next(), ElementsAre(0, 1));
    EXPECT_THAT(source.next(), ElementsAre(2, 3));
    EXPECT_THAT(source.next(), ElementsAre(4));
    EXPECT_TRUE(source.next().empty());
  }
}

TEST(Sampler, RestoredAtAnyPositionItGoesOnAlike) {
  for (const bool drop_last : {true, false}) {
    for (int calls = 0; calls < 12; ++calls) {
      Sampler source = sampler(11, 4, 5, drop_last);
      for (int i = 0; i < calls; ++i) (void)source.next();
      const Tree state = to_tree(source.state());
      Sampler restored(11, source.options(), sampler_state_from_tree(state));
      for (int i = 0; i < 9; ++i) EXPECT_EQ(restored.next(), source.next()) << calls << ' ' << i;
      EXPECT_EQ(restored.state().position, source.state().position);
      EXPECT_EQ(restored.state().epoch, source.state().epoch);
    }
  }
}

TEST(Sampler, TheLastEpochIsFollowedByTheFirst) {
  constexpr std::int64_t last = (std::int64_t{1} << 32) - 1;
  Sampler source(3, {.batch_size = 3, .epoch_bits = host_epoch_bits},
                 {.key = sampler_key(0), .epoch = last});
  EXPECT_EQ(source.next().size(), 3U);
  EXPECT_TRUE(source.next().empty());
  EXPECT_EQ(source.state().epoch, 0);
}

TEST(Sampler, TheStateIsATreeOfScalarsAndTheKey) {
  const Tree tree = to_tree({.key = sampler_key(0x123456789abcdef0U), .epoch = 3, .position = 8});
  EXPECT_EQ(structure_of(tree).to_string(), "{'epoch': *, 'key': *, 'position': *}");
  EXPECT_EQ(tree["epoch"].leaf().dtype(), int64);
  EXPECT_EQ(tree["epoch"].leaf().item<std::int64_t>(), 3);
  EXPECT_EQ(tree["position"].leaf().item<std::int64_t>(), 8);
  EXPECT_THAT(tree["key"].leaf().to_vector<std::uint32_t>(), ElementsAre(0x12345678U, 0x9abcdef0U));
}

TEST(Sampler, AnotherTreeIsNoState) {
  const Tree good = to_tree({.key = sampler_key(1), .epoch = 3, .position = 8});
  const auto refused = [&](const char* entry, const Tree& value) {
    Tree bad = good;
    bad[entry] = value;
    return refusal([&] { (void)sampler_state_from_tree(bad); });
  };
  EXPECT_THAT(
      refused("epoch", HostTensor::scalar<std::int64_t>(-1)),
      AllOf(HasSubstr("'epoch'"), HasSubstr("int64"), HasSubstr("-1"), HasSubstr("not negative")));
  EXPECT_THAT(refused("position", HostTensor::scalar(1.5F)),
              AllOf(HasSubstr("'position'"), HasSubstr("float32"), HasSubstr("integer scalar")));
  EXPECT_THAT(refused("position", HostTensor::zeros(int64, {1})),
              AllOf(HasSubstr("'position'"), HasSubstr("int64[1]")));
  EXPECT_THAT(refused("key", HostTensor::zeros(uint32, {3})),
              AllOf(HasSubstr("the key is uint32[3]"), HasSubstr("uint32[2]"),
                    HasSubstr("sampler_key(seed)")));
  EXPECT_THAT(refused("key", Tree()), AllOf(HasSubstr("no leaf 'key'"), HasSubstr("'epoch': *")));
  EXPECT_THAT(refusal([] { (void)sampler_state_from_tree(Tree()); }), HasSubstr("no leaf 'epoch'"));
}

TEST(Sampler, C073_AnEpochWithoutABatchIsRefused) {
  EXPECT_THAT(refusal([] { (void)sampler(0, 8); }),
              AllOf(HasSubstr("0 row(s)"), HasSubstr("batch_size 8"), HasSubstr("0 batches"),
                    HasSubstr("nothing to train on")));
  EXPECT_THAT(refusal([] { (void)sampler(0, 8, 0, false); }), HasSubstr("0 batches"));
  EXPECT_THAT(
      refusal([] { (void)sampler(3, 8); }),
      AllOf(HasSubstr("3 row(s)"), HasSubstr("batch_size 8 and drop_last"), HasSubstr("0 batches"),
            HasSubstr("smaller batch_size"), HasSubstr("drop_last = false")));
  EXPECT_THAT(refusal([] { (void)sampler(3, std::int64_t{1} << 40); }),
              AllOf(HasSubstr("batch_size 1099511627776"), HasSubstr("0 batches")));
  Sampler one_short = sampler(3, 8, 0, false);
  EXPECT_EQ(one_short.batches_per_epoch(), 1);
  EXPECT_EQ(one_short.next().size(), 3U);
  EXPECT_EQ(sampler(3, std::int64_t{1} << 40, 0, false).next().size(), 3U);
}

TEST(Sampler, C073_ABatchSizeThatIsNotPositiveIsRefused) {
  for (const std::int64_t size : {0, -1}) {
    EXPECT_THAT(refusal([&] { (void)sampler(10, size); }),
                AllOf(HasSubstr("batch_size is " + std::to_string(size)), HasSubstr("positive")));
  }
}

TEST(Sampler, AStateOfAnotherDataSetIsRefused) {
  const auto with = [](SamplerState state) {
    return refusal([&] {
      (void)Sampler(10, {.batch_size = 2, .epoch_bits = host_epoch_bits}, std::move(state));
    });
  };
  EXPECT_THAT(with({.key = sampler_key(0), .position = 11}),
              AllOf(HasSubstr("position 11"), HasSubstr("[0, 10]"), HasSubstr("another data set")));
  EXPECT_THAT(with({.key = sampler_key(0), .position = -1}), HasSubstr("position -1"));
  EXPECT_THAT(with({.key = sampler_key(0), .epoch = std::int64_t{1} << 32}),
              AllOf(HasSubstr("epoch 4294967296"), HasSubstr("[0, 2^32)")));
  EXPECT_THAT(with({}), AllOf(HasSubstr("the key is null"), HasSubstr("uint32[2]")));
}

}  // namespace
}  // namespace lockstep::data
