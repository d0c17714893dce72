#include "lockstep/tree/tree_struct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/array/array.h"
#include "lockstep/strategy/data_parallel.h"
#include "lockstep/strategy/single_device.h"
#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "lockstep/tree/algorithms.h"
#include "support/cpu_devices.h"
#include "support/error_text.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;

using IntTree = BasicTree<int>;

struct Layer {
  int weight = 0;
  std::optional<int> bias;
  auto tree_fields() { return fields("weight", weight, "bias", bias); }
};

struct Network {
  std::vector<Layer> layers;
  std::map<std::string, int> scales;
  std::pair<int, int> range;
  std::array<int, 2> seed{};
  std::tuple<int, Layer> head;
  IntTree extra;
  auto tree_fields() {
    return fields("layers", layers, "scales", scales, "range", range, "seed", seed, "head", head,
                  "extra", extra);
  }
};

Network sample() {
  return {.layers = {{.weight = 1, .bias = 2}, {.weight = 3, .bias = std::nullopt}},
          .scales = {{"a", 4}},
          .range = {5, 6},
          .seed = {7, 8},
          .head = {9, {.weight = 10, .bias = 11}},
          .extra = IntTree::list({12})};
}

TEST(TreeStruct, IsTheDictOfItsFields) {
  const auto tree = to_tree<int>(sample());
  EXPECT_EQ(structure_of(tree).to_string(),
            "{'extra': [*], 'head': [*, {'bias': *, 'weight': *}], 'layers': [{'bias': *, "
            "'weight': *}, {'bias': None, 'weight': *}], 'range': [*, *], 'scales': {'a': *}, "
            "'seed': [*, *]}");
  EXPECT_EQ(tree["layers"][0]["bias"].leaf(), 2);
  EXPECT_EQ(tree["head"][1]["weight"].leaf(), 10);
}

TEST(TreeStruct, ComesBackAsItWas) {
  const auto tree = to_tree<int>(sample());
  const auto again = from_tree<Network>(tree);
  EXPECT_EQ(again.layers.size(), 2U);
  EXPECT_EQ(again.layers[0].bias, 2);
  EXPECT_EQ(again.layers[1].bias, std::nullopt);
  EXPECT_EQ(again.range, std::pair(5, 6));
  const auto same = to_tree<int>(again);
  EXPECT_EQ(structure_of(same), structure_of(tree));
  EXPECT_EQ(flatten(same), flatten(tree));
}

TEST(TreeStruct, ConvertsToATreeByItself) {
  const IntTree tree = Layer{.weight = 1, .bias = 2};
  EXPECT_THAT(flatten(tree), ElementsAre(2, 1));
  const IntTree inside{{"layer", Layer{.weight = 1, .bias = {}}}};
  EXPECT_EQ(inside["layer"]["weight"].leaf(), 1);
}

TEST(TreeStruct, MapsAsATree) {
  const auto doubled =
      from_tree<Network>(map_tree([](int value) { return 2 * value; }, to_tree<int>(sample())));
  EXPECT_EQ(doubled.layers[1].weight, 6);
  EXPECT_EQ(doubled.seed, (std::array{14, 16}));
}

struct Mismatch {
  const char* name;
  std::function<void(IntTree&)> spoil;
  const char* path;
  std::vector<std::string> words;
};

class TreeStructMismatch : public ::testing::TestWithParam<Mismatch> {};

TEST_P(TreeStructMismatch, NamesThePath) {
  auto tree = to_tree<int>(sample());
  GetParam().spoil(tree);
  try {
    (void)from_tree<Network>(tree);
    FAIL() << "no error was thrown";
  } catch (const TreeMismatch& error) {
    EXPECT_EQ(to_string(error.path()), GetParam().path);
    const std::string place = error.path().empty() ? "at the root" : GetParam().path;
    EXPECT_THAT(error.what(), AllOf(HasSubstr("[from_tree]"), HasSubstr(place)));
    for (const std::string& word : GetParam().words) {
      EXPECT_THAT(error.what(), HasSubstr(word));
      EXPECT_THAT(error.reason(), HasSubstr(word));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    TreeStruct, TreeStructMismatch,
    ::testing::Values(
        Mismatch{"LeafIsADict",
                 [](IntTree& tree) {
                   tree["layers"][1]["weight"] = IntTree{{"w", 1}};
                 },
                 "layers/1/weight",
                 {"expected a leaf", "found a dict"}},
        Mismatch{"DictIsALeaf",
                 [](IntTree& tree) { tree["layers"][0] = 1; },
                 "layers/0",
                 {"expected a dict", "found a leaf"}},
        Mismatch{"ListIsNone",
                 [](IntTree& tree) { tree["layers"] = IntTree(); },
                 "layers",
                 {"expected a list", "found None"}},
        Mismatch{"MissingField",
                 [](IntTree& tree) { tree["head"][1].entries().erase("weight"); },
                 "head/1",
                 {"no entry 'weight'", "the entries are: 'bias'"}},
        Mismatch{"UnknownEntry",
                 [](IntTree& tree) { tree["layers"][0]["gain"] = 1; },
                 "layers/0",
                 {"'gain' is no field", "the fields are: 'weight', 'bias'"}},
        Mismatch{"RootEntry", [](IntTree& tree) { tree["momentum"] = 1; }, "", {"'momentum'"}},
        Mismatch{"ArrayLength",
                 [](IntTree& tree) { tree["seed"].items().pop_back(); },
                 "seed",
                 {"expected a list of 2", "found one of 1"}},
        Mismatch{"PairLength",
                 [](IntTree& tree) { tree["range"].items().emplace_back(1); },
                 "range",
                 {"expected a list of 2", "found one of 3"}},
        Mismatch{"TupleLength",
                 [](IntTree& tree) { tree["head"].items().clear(); },
                 "head",
                 {"expected a list of 2", "found one of 0"}},
        Mismatch{"MapEntry",
                 [](IntTree& tree) { tree["scales"]["b"] = IntTree::list({1}); },
                 "scales/b",
                 {"expected a leaf", "found a list"}}),
    [](const auto& test) { return std::string(test.param.name); });

struct TwiceNamed {
  int a = 0;
  int b = 0;
  auto tree_fields() { return fields("a", a, "a", b); }
};
struct Unnamed {
  int a = 0;
  auto tree_fields() { return fields("", a); }
};

TEST(TreeStruct, NamesMustDifferAndBeThere) {
  EXPECT_THAT(error_text<ValueError>([] { (void)to_tree<int>(TwiceNamed{}); }),
              AllOf(HasSubstr("[tree_fields]"), HasSubstr("'a' is listed twice")));
  EXPECT_THAT(error_text<ValueError>([] {
                (void)from_tree<TwiceNamed>(IntTree{{"a", 1}});
              }),
              HasSubstr("'a' is listed twice"));
  EXPECT_THAT(error_text<ValueError>([] { (void)to_tree<int>(Unnamed{}); }),
              AllOf(HasSubstr("field 0 has no name"), HasSubstr("name every field")));
}

struct Wrapped {
  int value = 0;
};

}  // namespace

template <>
struct TreeConversion<Wrapped, int> {
  static IntTree to_tree(const Wrapped& wrapped) { return wrapped.value; }
  static Wrapped from_tree(const IntTree& tree) {
    if (tree.leaf() < 0) throw_value_error("Wrapped", "is negative");
    return {tree.leaf()};
  }
};

namespace {

TEST(TreeStruct, TakesConversionsOfOnesOwn) {
  const std::vector<Wrapped> values{{1}, {2}};
  const auto tree = to_tree<int>(values);
  EXPECT_THAT(flatten(tree), ElementsAre(1, 2));
  EXPECT_EQ(from_tree<std::vector<Wrapped>>(tree)[1].value, 2);
  EXPECT_THAT(error_text<TreeMismatch>([] {
                (void)from_tree<std::vector<Wrapped>>(IntTree::list({1, -1}));
              }),
              AllOf(HasSubstr("at '1'"), HasSubstr("[Wrapped] is negative")));
}

// As a user would write them: a batch and a state.
struct Batch {
  Array x;
  Array y;
  auto tree_fields() { return fields("x", x, "y", y); }
};
struct Params {
  Array w;
  std::optional<Array> b;
  auto tree_fields() { return fields("w", w, "b", b); }
};
struct State {
  Params params;
  Array step;
  auto tree_fields() { return fields("params", params, "step", step); }
};

Batch sample_batch() {
  return {.x = HostTensor::from(std::vector<float>{1, 2, 3, 4}, {4, 1}),
          .y = HostTensor::from(std::vector<float>{2, 4, 6, 8}, {4, 1})};
}
State sample_state() {
  return {.params = {.w = HostTensor::from(std::vector<float>{1}, {1, 1}), .b = std::nullopt},
          .step = HostTensor::scalar(std::int32_t{3})};
}

TEST(TreeStruct, IsPlacedAsBatchAndState) {
  const DataParallelStrategy strategy(testing::cpus({0, 1}));
  const auto batch = from_tree<Batch>(strategy.place_batch(sample_batch()));
  EXPECT_EQ(batch.x.sharding(), strategy.batch_sharding(2));
  EXPECT_EQ(batch.x.addressable_shards().size(), 2U);
  EXPECT_THAT(batch.y.to_vector<float>(), ElementsAre(2, 4, 6, 8));
  const auto state = from_tree<State>(strategy.place_state(sample_state()));
  EXPECT_EQ(state.params.w.sharding(), strategy.state_sharding());
  EXPECT_FALSE(state.params.b.has_value());
  EXPECT_EQ(state.step.item<int>(), 3);
}

TEST(TreeStruct, ABatchThatDoesNotDivideNamesTheField) {
  const DataParallelStrategy strategy(testing::cpus({0, 1, 2}));
  EXPECT_THAT(error_text<ValueError>([&] { (void)strategy.place_batch(sample_batch()); }),
              AllOf(HasSubstr("'x'"), HasSubstr("(4, 1)")));
}

TEST(TreeStruct, PassesThroughJitAndGrad) {
  const SingleDeviceStrategy strategy(testing::cpu(0));
  const auto batch = from_tree<Batch>(strategy.place_batch(sample_batch()));
  const auto params = from_tree<State>(strategy.place_state(sample_state())).params;
  const auto loss = [](const Params& p, const Batch& b) {
    const Array error = matmul(b.x, p.w) - b.y;
    return mean(error * error);
  };
  const auto update = jit([&](const Params& p, const Batch& b) {
    const Params gradient = grad(loss)(p, b);
    return Params{.w = p.w - 0.05F * gradient.w, .b = gradient.b};
  });
  const Params next = update(params, batch);
  // d/dw mean((x w - y)^2) = mean(2 x (x w - y)) at w = 1, y = 2 x: -2 mean(x^2) = -15.
  EXPECT_FLOAT_EQ(next.w.item<float>(), 1.0F + 0.05F * 15.0F);
  EXPECT_FALSE(next.b.has_value());
}

}  // namespace
}  // namespace lockstep
