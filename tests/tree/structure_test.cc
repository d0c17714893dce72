#include "lockstep/tree/structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/tree/algorithms.h"
#include "lockstep/tree/key_path.h"
#include "support/error_text.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;

using IntTree = BasicTree<int>;

std::vector<std::string> leaf_paths(const TreeStructure& structure) {
  std::vector<std::string> texts;
  for (const KeyPath& path : structure.leaf_paths()) texts.push_back(to_string(path));
  return texts;
}

TEST(KeyPath, JoinsKeysAndIndicesBySlashes) {
  EXPECT_EQ(to_string(KeyPath{"layers", std::size_t{2}, "weight"}), "layers/2/weight");
  EXPECT_EQ(to_string(KeyPath{}), "");
  EXPECT_EQ(to_string(KeyPath{std::size_t{0}}), "0");
}

TEST(TreeStructure, OfATreePrintsAsInJax) {
  EXPECT_EQ(structure_of(IntTree{{"w", IntTree::list({1, IntTree()})}, {"b", 2}}).to_string(),
            "{'b': *, 'w': [*, None]}");
  EXPECT_EQ(structure_of(IntTree()).to_string(), "None");
  EXPECT_EQ(structure_of(IntTree(1)).to_string(), "*");
  EXPECT_EQ(structure_of(IntTree(IntTree::List{})).to_string(), "[]");
  EXPECT_EQ(structure_of(IntTree(IntTree::Dict{})).to_string(), "{}");
}

TEST(TreeStructure, CountsAndNamesItsLeaves) {
  const TreeStructure structure = structure_of(
      IntTree{{"z", 1}, {"a", IntTree::list({IntTree{{"w", 1}}, IntTree(), 3})}, {"n", IntTree()}});
  EXPECT_EQ(structure.num_leaves(), 3U);
  EXPECT_THAT(leaf_paths(structure), ElementsAre("a/0/w", "a/2", "z"));
  EXPECT_THAT(leaf_paths(structure_of(IntTree(1))), ElementsAre(""));
  EXPECT_EQ(TreeStructure().num_leaves(), 0U);
}

TEST(TreeStructure, IsEqualWhereTreesAreAlike) {
  const IntTree tree{{"a", 1}, {"b", IntTree::list({2, 3})}};
  EXPECT_EQ(structure_of(tree), structure_of(map_tree([](int value) { return -value; }, tree)));
  EXPECT_NE(structure_of(tree), structure_of(IntTree{{"a", 1}, {"c", IntTree::list({2, 3})}}));
  EXPECT_NE(structure_of(tree), structure_of(IntTree{{"a", 1}, {"b", IntTree::list({2})}}));
  EXPECT_NE(structure_of(IntTree()), structure_of(IntTree(1)));
  EXPECT_NE(structure_of(IntTree(IntTree::List{})), structure_of(IntTree(IntTree::Dict{})));
}

TEST(TreeStructure, IsBuiltByHand) {
  const TreeStructure structure = TreeStructure::dict(
      {"b", "w"}, {TreeStructure::leaf(), TreeStructure::list({TreeStructure::leaf(), {}})});
  EXPECT_EQ(structure, structure_of(IntTree{{"w", IntTree::list({1, IntTree()})}, {"b", 2}}));
}

TEST(TreeStructure, KeysMustBeSortedAndDistinct) {
  const TreeStructure leaf = TreeStructure::leaf();
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)TreeStructure::dict({"w", "b"}, {leaf, leaf});
              }),
              AllOf(HasSubstr("'w' stands before 'b'"), HasSubstr("sorted and distinct")));
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)TreeStructure::dict({"w", "w"}, {leaf, leaf});
              }),
              HasSubstr("'w' stands before 'w'"));
  EXPECT_THAT(error_text<ValueError>([&] { (void)TreeStructure::dict({"w"}, {}); }),
              HasSubstr("1 keys for 0 children"));
}

struct Difference {
  const char* name;
  IntTree expected;
  IntTree found;
  const char* place;
  const char* expected_text;
  const char* found_text;
};

class StructureMismatch : public ::testing::TestWithParam<Difference> {};

TEST_P(StructureMismatch, NamesThePathAndBothSides) {
  const Difference& difference = GetParam();
  EXPECT_THAT(error_text<ValueError>([&] {
                check_same_structure("restore", structure_of(difference.expected),
                                     structure_of(difference.found));
              }),
              AllOf(HasSubstr("[restore]"), HasSubstr(difference.place),
                    HasSubstr(std::string("expected ") + difference.expected_text),
                    HasSubstr(std::string("found ") + difference.found_text)));
}

INSTANTIATE_TEST_SUITE_P(
    Structure, StructureMismatch,
    ::testing::Values(
        Difference{"Root", IntTree(1), IntTree(), "at the root", "a leaf", "None"},
        Difference{"Key", IntTree{{"a", IntTree{{"w", 1}}}}, IntTree{{"a", IntTree{{"v", 1}}}},
                   "at 'a'", "a dict of 'w'", "a dict of 'v'"},
        Difference{"Length", IntTree{{"a", IntTree::list({1, IntTree::list({1, 2})})}},
                   IntTree{{"a", IntTree::list({1, IntTree::list({1})})}}, "at 'a/1'",
                   "a list of 2", "a list of 1"},
        Difference{"Kind", IntTree{{"a", IntTree::list({1})}}, IntTree{{"a", IntTree{{"0", 1}}}},
                   "at 'a'", "a list of 1", "a dict of '0'"},
        Difference{"Empty", IntTree(IntTree::Dict{}), IntTree{{"a", 1}}, "at the root",
                   "an empty dict", "a dict of 'a'"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(CheckSameStructure, EqualStructuresPass) {
  EXPECT_NO_THROW(
      check_same_structure("x", structure_of(IntTree{{"a", 1}}), structure_of(IntTree{{"a", 2}})));
}

}  // namespace
}  // namespace lockstep
