#include "lockstep/tree/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/error_text.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using testing::error_text;
using ::testing::HasSubstr;

using IntTree = BasicTree<int>;

TEST(Tree, IsOneOfFourKinds) {
  const IntTree none;
  const IntTree leaf = 7;
  const IntTree list = IntTree::list({1, 2});
  const IntTree dict{{"a", 1}};
  EXPECT_TRUE(none.is_none() && !none.is_leaf() && !none.is_list() && !none.is_dict());
  EXPECT_TRUE(leaf.is_leaf() && !leaf.is_none() && !leaf.is_list() && !leaf.is_dict());
  EXPECT_TRUE(list.is_list() && !list.is_none() && !list.is_leaf() && !list.is_dict());
  EXPECT_TRUE(dict.is_dict() && !dict.is_none() && !dict.is_leaf() && !dict.is_list());
  EXPECT_EQ(none.kind(), "None");
  EXPECT_EQ(leaf.kind(), "a leaf");
  EXPECT_EQ(list.kind(), "a list");
  EXPECT_EQ(dict.kind(), "a dict");
}

TEST(Tree, IsReadByKeyAndIndex) {
  const IntTree tree{{"layers", IntTree::list({IntTree{{"w", 1}}, IntTree{{"w", 2}}})}};
  EXPECT_EQ(tree["layers"][1]["w"].leaf(), 2);
  EXPECT_TRUE(tree.contains("layers"));
  EXPECT_FALSE(tree.contains("bias"));
  EXPECT_FALSE(tree["layers"].contains("w"));
}

TEST(Tree, StandsInForItsLeaf) {
  const auto twice = [](const int& value) { return 2 * value; };
  const IntTree tree{{"a", 21}};
  EXPECT_EQ(twice(tree["a"]), 42);
}

TEST(Tree, WhatConvertsToALeafIsOne) {
  const BasicTree<std::string> tree = "text";
  EXPECT_EQ(tree.leaf(), "text");
}

TEST(Tree, GrowsByAssignment) {
  IntTree tree;
  tree["params"]["w"] = 3;
  tree["params"]["b"] = 4;
  tree["params"]["w"] = 5;
  EXPECT_EQ(tree["params"].entries().size(), 2U);
  EXPECT_EQ(tree["params"]["w"].leaf(), 5);
  tree["items"] = IntTree::list({1, 2});
  tree["items"][0] = 9;
  EXPECT_EQ(tree["items"][0].leaf(), 9);
}

TEST(Tree, CopiesAreIndependent) {
  const IntTree original{{"a", IntTree::list({1, 2})}};
  IntTree copy = original;
  copy["a"][0] = 100;
  copy["b"] = 3;
  EXPECT_EQ(original["a"][0].leaf(), 1);
  EXPECT_FALSE(original.contains("b"));
}

TEST(Tree, AMissingKeyListsTheKeys) {
  const IntTree tree{{"image", 1}, {"label", 2}};
  EXPECT_THAT(error_text<ValueError>([&] { (void)tree["labels"]; }),
              AllOf(HasSubstr("[tree]"), HasSubstr("no entry 'labels'"),
                    HasSubstr("the keys are: image, label")));
  const IntTree empty(IntTree::Dict{});
  EXPECT_THAT(error_text<ValueError>([&] { (void)empty["x"]; }), HasSubstr("(none)"));
}

TEST(Tree, AnIndexOutOfRangeNamesIndexAndLength) {
  const IntTree tree = IntTree::list({1, 2});
  for (const std::int64_t index : {std::int64_t{2}, std::int64_t{-1}}) {
    EXPECT_THAT(error_text<ValueError>([&] { (void)tree[index]; }),
                AllOf(HasSubstr("index " + std::to_string(index)), HasSubstr("a list of 2")));
  }
}

TEST(Tree, TheWrongKindIsNamed) {
  const IntTree leaf = 1;
  const IntTree list = IntTree::list({1});
  const IntTree none;
  EXPECT_THAT(error_text<ValueError>([&] { (void)leaf["a"]; }),
              HasSubstr("expected a dict, found a leaf"));
  EXPECT_THAT(error_text<ValueError>([&] { (void)none[0]; }),
              HasSubstr("expected a list, found None"));
  EXPECT_THAT(error_text<ValueError>([&] { (void)list.leaf(); }),
              HasSubstr("expected a leaf, found a list"));
  IntTree mutable_list = list;
  EXPECT_THAT(error_text<ValueError>([&] { mutable_list["a"] = 1; }),
              HasSubstr("expected a dict, found a list"));
}

}  // namespace
}  // namespace lockstep
