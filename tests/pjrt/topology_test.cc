#include "lockstep/pjrt/topology.h"

#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

using ::testing::HasSubstr;

class TopologyTest : public BothPlugins {};
INSTANTIATE_TEST_SUITE_P(Cpu, TopologyTest, ::testing::ValuesIn(both_plugins), plugin_name);

TEST_P(TopologyTest, OfAClientShowsItsDevices) {
  const Topology topology = Topology::of(client());
  EXPECT_EQ(topology.platform_name(), "cpu");
  ASSERT_EQ(topology.devices().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(topology.devices()[i].id, static_cast<std::int64_t>(i));
    EXPECT_EQ(topology.devices()[i].process_index, 0);
    EXPECT_EQ(topology.devices()[i].kind, "cpu");
    EXPECT_THAT(topology.devices()[i].description, HasSubstr(std::to_string(i)));
  }
}

TEST_P(TopologyTest, MovesWithoutLosingItsDevices) {
  Topology first = Topology::of(client());
  const Topology second = std::move(first);
  EXPECT_EQ(second.devices().size(), 4U);
  EXPECT_EQ(second.platform_name(), "cpu");
}

TEST(StubTopology, APluginWithoutTopologiesIsNamed) {
  const std::string path = stub_path("stub_gpu_good");
  const auto plugin = Plugin::load(path);
  EXPECT_THAT(error_text<RuntimeError>([&] { (void)Topology::create(plugin, "v5p:2x2x1"); }),
              ::testing::AllOf(HasSubstr(path), HasSubstr("'v5p:2x2x1'"),
                               HasSubstr("PJRT_TopologyDescription_Create")));
  const auto client = Client::create(plugin);
  EXPECT_THAT(error_text<RuntimeError>([&] { (void)Topology::of(*client); }),
              HasSubstr("PJRT_Client_TopologyDescription"));
}

}  // namespace
}  // namespace lockstep::pjrt
