#include "lockstep/array/sharding.h"

#include "array_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Mesh grid() {  // 2 x 3
  return Mesh(cpus({0, 1, 2, 3, 4, 5}), {"data", "model"}, {2, 3});
}

TEST(Mesh, IsAValueOfDevicesAndAxes) {
  const Mesh mesh = grid();
  EXPECT_EQ(mesh.size(), 6U);
  EXPECT_EQ(mesh.axis_size("data"), 2);
  EXPECT_EQ(mesh.axis_size("model"), 3);
  EXPECT_EQ(mesh.devices(), cpus({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(mesh.to_string(), "Mesh(data=2, model=3)");
  EXPECT_EQ(mesh, grid());
  EXPECT_NE(mesh, Mesh(cpus({0, 1, 2, 3, 4, 5}), {"data", "model"}, {3, 2}));
  EXPECT_NE(mesh_of(2), Mesh(cpus({1, 0}), "data"));
  EXPECT_NE(mesh_of(2), Mesh(cpus({0, 1}), "batch"));
}

TEST(Mesh, RefusesBadAxes) {
  const auto devices = cpus({0, 1, 2, 3});
  EXPECT_THAT(error_text<ValueError>([&] {
                Mesh(devices, {"data", "model"}, {2, 3});
              }),
              AllOf(HasSubstr("[Mesh]"), HasSubstr("(2, 3) need 6"), HasSubstr("got 4")));
  EXPECT_THAT(error_text<ValueError>([&] {
                Mesh(devices, {"data"}, {2, 2});
              }),
              AllOf(HasSubstr("1 axis names"), HasSubstr("2 axis sizes")));
  EXPECT_THAT(error_text<ValueError>([&] {
                Mesh(devices, {"data", "data"}, {2, 2});
              }),
              HasSubstr("'data' is used twice"));
  EXPECT_THAT(error_text<ValueError>([&] {
                Mesh(devices, {"data", ""}, {2, 2});
              }),
              HasSubstr("axis 1 has no name"));
  EXPECT_THAT(error_text<ValueError>([&] { Mesh(devices, {"data"}, {-4}); }), HasSubstr("-4"));
  EXPECT_THAT(error_text<ValueError>([&] { (void)grid().axis_size("pipe"); }),
              AllOf(HasSubstr("no axis 'pipe'"), HasSubstr("Mesh(data=2, model=3)")));
}

TEST(Mesh, RefusesBadDevices) {
  EXPECT_THAT(error_text<ValueError>([] { Mesh({}, "data"); }), HasSubstr("no devices"));
  EXPECT_THAT(error_text<ValueError>([] {
                Mesh(cpus({0, 1, 0}), "data");
              }),
              AllOf(HasSubstr("cpu:0"), HasSubstr("listed twice")));
  EXPECT_THAT(error_text<ValueError>([] {
                Mesh({cpu(0), Device()}, "data");
              }),
              HasSubstr("device 1 of the list is null"));
}

TEST(Sharding, OfASingleDevice) {
  const Sharding sharding = SingleDeviceSharding{cpu(3)};
  EXPECT_THAT(sharding.devices(), ElementsAre(cpu(3)));
  EXPECT_THAT(sharding.addressable_positions(), ElementsAre(0U));
  EXPECT_TRUE(sharding.is_fully_replicated());
  EXPECT_EQ(sharding.mesh(), nullptr);
  EXPECT_THAT(sharding.spec(), IsEmpty());
  EXPECT_EQ(sharding.shard_shape({5, 7}), (Shape{5, 7}));
  EXPECT_THAT(sharding.shard_indices({5, 7}), ElementsAre(ShardIndex{{0, 5}, {0, 7}}));
  EXPECT_EQ(sharding.to_string(), "cpu:3");
}

TEST(Sharding, SplitsTheLeadingDimensionInDeviceOrder) {
  const Sharding sharding = NamedSharding{Mesh(cpus({3, 1}), "data"), {{"data"}}};
  EXPECT_FALSE(sharding.is_fully_replicated());
  EXPECT_THAT(sharding.devices(), ElementsAre(cpu(3), cpu(1)));
  EXPECT_EQ(sharding.shard_shape({8, 5}), (Shape{4, 5}));
  EXPECT_THAT(sharding.shard_indices({8, 5}),
              ElementsAre(ShardIndex{{0, 4}, {0, 5}}, ShardIndex{{4, 8}, {0, 5}}));
  EXPECT_EQ(sharding.to_string(), "Mesh(data=2), ('data',)");
}

TEST(Sharding, SplitsDimensionsOverAxesOfAGrid) {
  const Sharding sharding = NamedSharding{grid(), {{"model"}, {}, {"data"}}};
  EXPECT_EQ(sharding.shard_shape({6, 5, 4}), (Shape{2, 5, 2}));
  EXPECT_EQ(sharding.to_string(), "Mesh(data=2, model=3), ('model', None, 'data')");
  const auto indices = sharding.shard_indices({6, 5, 4});
  for (std::int64_t data = 0; data < 2; ++data) {
    for (std::int64_t model = 0; model < 3; ++model) {
      EXPECT_EQ(indices[static_cast<std::size_t>(data * 3 + model)],
                (ShardIndex{{2 * model, 2 * model + 2}, {0, 5}, {2 * data, 2 * data + 2}}));
    }
  }
}

TEST(Sharding, SplitsOneDimensionOverSeveralAxesSlowestFirst) {
  const Sharding forward = NamedSharding{grid(), {{"data", "model"}}};
  const Sharding backward = NamedSharding{grid(), {{"model", "data"}}};
  EXPECT_EQ(forward.num_parts(0), 6);
  EXPECT_EQ(forward.num_parts(1), 1);
  EXPECT_EQ(backward.to_string(), "Mesh(data=2, model=3), (('model', 'data'),)");
  for (std::size_t position = 0; position < 6; ++position) {
    const auto data = static_cast<std::int64_t>(position / 3);
    const auto model = static_cast<std::int64_t>(position % 3);
    EXPECT_EQ(forward.part_of(position, 0), data * 3 + model);
    EXPECT_EQ(backward.part_of(position, 0), model * 2 + data);
  }
}

TEST(Sharding, ReplicatesOverAxesThatSplitNothing) {
  const Sharding replicated = NamedSharding{mesh_of(4), {}};
  EXPECT_TRUE(replicated.is_fully_replicated());
  EXPECT_EQ(replicated.shard_shape({}), Shape{});
  EXPECT_THAT(replicated.shard_indices({3}), ElementsAre(ShardIndex{{0, 3}}, ShardIndex{{0, 3}},
                                                         ShardIndex{{0, 3}}, ShardIndex{{0, 3}}));
  const Sharding partly = NamedSharding{grid(), {{"data"}}};
  EXPECT_FALSE(partly.is_fully_replicated());
  EXPECT_EQ(partly.part_of(4, 0), 1);
}

TEST(Sharding, AnAxisOfSizeOneReplicates) {
  const Sharding sharding = NamedSharding{Mesh(cpus({2}), "data"), {{"data"}}};
  EXPECT_TRUE(sharding.is_fully_replicated());
  EXPECT_EQ(sharding.shard_shape({5}), Shape{5});
}

TEST(Sharding, IsEqualWhereItSplitsAlike) {
  const Sharding sharding = NamedSharding{mesh_of(2), {{"data"}}};
  EXPECT_EQ(sharding, Sharding(NamedSharding{mesh_of(2), {{"data"}, {}, {}}}));
  EXPECT_NE(sharding, Sharding(NamedSharding{mesh_of(2), {{}, {"data"}}}));
  EXPECT_NE(sharding, Sharding(NamedSharding{Mesh(cpus({1, 0}), "data"), {{"data"}}}));
  EXPECT_NE(sharding, Sharding(SingleDeviceSharding{cpu(0)}));
  EXPECT_EQ(Sharding(SingleDeviceSharding{cpu(0)}), Sharding(SingleDeviceSharding{cpu(0)}));
  EXPECT_NE(Sharding(SingleDeviceSharding{cpu(0)}), Sharding(SingleDeviceSharding{cpu(1)}));
  EXPECT_EQ(Sharding(), Sharding());
  EXPECT_NE(Sharding(), sharding);
}

TEST(Sharding, RefusesSpecsThatDoNotFitTheMesh) {
  EXPECT_THAT(error_text<ValueError>([] {
                Sharding(NamedSharding{mesh_of(2), {{"model"}}});
              }),
              AllOf(HasSubstr("no axis 'model'"), HasSubstr("Mesh(data=2)")));
  EXPECT_THAT(error_text<ValueError>([] {
                Sharding(NamedSharding{mesh_of(2), {{"data"}, {"data"}}});
              }),
              AllOf(HasSubstr("[Sharding]"), HasSubstr("'data' splits two dimensions")));
  EXPECT_THAT(error_text<ValueError>([] { Sharding(NamedSharding{}); }),
              HasSubstr("the mesh has no devices"));
  EXPECT_THAT(error_text<ValueError>([] { Sharding(SingleDeviceSharding{}); }),
              HasSubstr("the device is null"));
  EXPECT_THAT(error_text<ValueError>([] { (void)Sharding().devices(); }),
              HasSubstr("the sharding is null"));
  EXPECT_EQ(Sharding().to_string(), "no sharding");
}

TEST(Sharding, RefusesShapesThatItCannotSplit) {
  const Sharding sharding = NamedSharding{mesh_of(4), {{}, {"data"}}};
  EXPECT_THAT(error_text<ValueError>([&] {
                (void)sharding.shard_shape({8, 6});
              }),
              AllOf(HasSubstr("dimension 1 of shape (8, 6)"), HasSubstr("length 6"),
                    HasSubstr("divisible by 4"), HasSubstr("Mesh(data=4)")));
  EXPECT_THAT(error_text<ValueError>([&] { (void)sharding.shard_shape({8}); }),
              AllOf(HasSubstr("splits dimension 1"), HasSubstr("(8,) has 1 dimension")));
  EXPECT_EQ(sharding.shard_shape({8, 0}), (Shape{8, 0}));
}

}  // namespace
}  // namespace lockstep
