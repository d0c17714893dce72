#include "lockstep/tree/algorithms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_text.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using IntTree = BasicTree<int>;

IntTree sample() {
  return {{"z", 1}, {"a", IntTree::list({2, IntTree(), IntTree{{"k", 3}}})}, {"empty", IntTree()}};
}

TEST(Flatten, OrdersDictsByKeyAndListsByIndex) {
  EXPECT_THAT(flatten(sample()), ElementsAre(2, 3, 1));
  EXPECT_THAT(flatten(IntTree()), IsEmpty());
  EXPECT_THAT(flatten(IntTree(5)), ElementsAre(5));
}

TEST(Flatten, UnflattenGivesTheTreeBack) {
  const IntTree tree = sample();
  const IntTree again = unflatten(structure_of(tree), flatten(tree));
  EXPECT_EQ(structure_of(again), structure_of(tree));
  EXPECT_EQ(flatten(again), flatten(tree));
  EXPECT_EQ(again["a"][2]["k"].leaf(), 3);
  EXPECT_TRUE(again["empty"].is_none());
}

TEST(Flatten, UnflattenNeedsExactlyAsManyLeaves) {
  const TreeStructure structure = structure_of(IntTree{{"b", 1}, {"w", 2}});
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
    EXPECT_THAT(
        error_text<ValueError>([&] { (void)unflatten(structure, std::vector<int>(count)); }),
        AllOf(HasSubstr("[unflatten]"), HasSubstr("{'b': *, 'w': *}"), HasSubstr("2 leaves"),
              HasSubstr("got " + std::to_string(count))));
  }
}

TEST(MapTree, KeepsTheStructureAndMayChangeTheLeafType) {
  const BasicTree<std::string> texts =
      map_tree([](int value) { return std::to_string(10 * value); }, sample());
  EXPECT_EQ(structure_of(texts), structure_of(sample()));
  EXPECT_THAT(flatten(texts), ElementsAre("20", "30", "10"));
}

TEST(MapTree, WalksSeveralTreesTogether) {
  const IntTree left{{"a", 1}, {"b", IntTree::list({2, 3})}};
  const BasicTree<double> right{
      {"a", 0.5},
      {"b", BasicTree<double>::list({BasicTree<double>(0.25), BasicTree<double>(0.0)})}};
  const auto sums = map_tree([](int x, double y, int z) { return x + y + z; }, left, right, left);
  EXPECT_THAT(flatten(sums), ElementsAre(2.5, 4.25, 6.0));
}

TEST(MapTree, TreesMustAgree) {
  const auto add = [](int x, int y) { return x + y; };
  const IntTree left{{"params", IntTree{{"w", 1}}}};
  const IntTree right{{"params", IntTree{{"w", IntTree::list({1})}}}};
  EXPECT_THAT(error_text<ValueError>([&] { (void)map_tree(add, left, right); }),
              AllOf(HasSubstr("[map_tree]"), HasSubstr("at 'params/w'"), HasSubstr("a leaf"),
                    HasSubstr("a list of 1")));
  EXPECT_THAT(error_text<ValueError>([&] { (void)map_tree(add, left, IntTree()); }),
              AllOf(HasSubstr("at the root"), HasSubstr("a dict of 'params'"), HasSubstr("None")));
}

TEST(MapTree, WithPathNamesEveryLeaf) {
  const BasicTree<std::string> names = map_tree_with_path(
      [](const KeyPath& path, int value) { return to_string(path) + "=" + std::to_string(value); },
      sample());
  EXPECT_EQ(structure_of(names), structure_of(sample()));
  EXPECT_THAT(flatten(names), ElementsAre("a/0=2", "a/2/k=3", "z=1"));
}

TEST(ForEachLeaf, GivesPathsInOrder) {
  std::vector<std::string> seen;
  for_each_leaf(sample(), [&](const KeyPath& path, int value) {
    seen.push_back(to_string(path) + "=" + std::to_string(value));
  });
  EXPECT_THAT(seen, ElementsAre("a/0=2", "a/2/k=3", "z=1"));
}

TEST(AllLeaves, StopsAtTheFirstThatFails) {
  std::vector<int> asked;
  const auto is_even = [&](int value) {
    asked.push_back(value);
    return value % 2 == 0;
  };
  EXPECT_FALSE(all_leaves(is_even, sample()));
  EXPECT_THAT(asked, ElementsAre(2, 3));
  EXPECT_TRUE(all_leaves([](int) { return false; }, IntTree()));
  EXPECT_TRUE(all_leaves([](int value) { return value > 0; }, sample()));
}

}  // namespace
}  // namespace lockstep
