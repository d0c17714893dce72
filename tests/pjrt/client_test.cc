#include "lockstep/pjrt/client.h"

#include <unordered_set>

#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClientTest : public BothPlugins {};
INSTANTIATE_TEST_SUITE_P(Cpu, ClientTest, ::testing::ValuesIn(both_plugins), plugin_name);

TEST_P(ClientTest, ShowsItsDevicesInOrder) {
  ASSERT_EQ(client().devices().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Device& each = client().devices()[i];
    EXPECT_EQ(each.id(), static_cast<std::int64_t>(i));
    EXPECT_EQ(each.process_index(), 0);
    EXPECT_EQ(each.platform(), "cpu");
    EXPECT_EQ(each.platform_name(), "cpu");
    EXPECT_EQ(each.kind(), "cpu");
    EXPECT_EQ(each.to_string(), "cpu:" + std::to_string(i));
    EXPECT_TRUE(each.is_addressable());
    EXPECT_EQ(&each.client(), &client());
    EXPECT_NE(each.handle(), nullptr);
    EXPECT_EQ(client().device(each.handle()), each);
  }
  EXPECT_EQ(client().addressable_devices(), client().devices());
  EXPECT_EQ(client().process_index(), 0);
  EXPECT_EQ(client().platform_name(), "cpu");
  EXPECT_FALSE(client().platform_version().empty());
}

TEST_P(ClientTest, DevicesAreValues) {
  const Device copy = device(1);
  EXPECT_EQ(copy, device(1));
  EXPECT_NE(copy, device(2));
  const std::unordered_set<Device> set{device(0), device(1), device(1), Device()};
  EXPECT_EQ(set.size(), 3U);
}

TEST_P(ClientTest, CpuDevicesReportNoMemoryStatistics) {
  EXPECT_FALSE(device(0).memory_stats().has_value());
}

TEST_P(ClientTest, ClientsAreIndependent) {
  const auto other = Client::create(Plugin::load(path()),
                                    {.create_options = {{"cpu_device_count", std::int64_t{2}}}});
  EXPECT_EQ(other->devices().size(), 2U);
  EXPECT_NE(other->devices()[0], device(0));
}

TEST(NullDevice, IsRefusedByEveryQuestion) {
  const Device none;
  EXPECT_TRUE(none.is_null());
  EXPECT_EQ(none.to_string(), "no device");
  EXPECT_THAT(error_text<ValueError>([&] { (void)none.id(); }), HasSubstr("this is no device"));
}

TEST(StubClient, DevicesAreSortedAndPlatformsMapped) {
  const auto client = Client::create(Plugin::load(stub_path("stub_gpu_good")));
  ASSERT_EQ(client->devices().size(), 2U);
  EXPECT_EQ(client->devices()[0].id(), 0);
  EXPECT_EQ(client->devices()[1].id(), 1);
  EXPECT_EQ(client->devices()[1].platform(), "gpu");
  EXPECT_EQ(client->devices()[1].platform_name(), "cuda");
  EXPECT_EQ(client->devices()[1].to_string(), "gpu:1");
  EXPECT_EQ(client->devices()[1].kind(), "Stub 9000");
  EXPECT_EQ(client->devices()[1].local_hardware_id(), 11);
}

TEST(StubClient, MemoryStatisticsAreReadWhereSet) {
  const auto client = Client::create(Plugin::load(stub_path("stub_gpu_good")));
  const auto stats = client->devices()[0].memory_stats();
  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->bytes_in_use, 1000);
  EXPECT_EQ(stats->bytes_limit, 4000);
  EXPECT_FALSE(stats->peak_bytes_in_use.has_value());
}

TEST(StubClient, AFailingCreateNamesThePlugin) {
  const std::string path = stub_path("stub_gpu_create_fails");
  EXPECT_THAT(error_text<RuntimeError>([&] { (void)Client::create(Plugin::load(path)); }),
              ::testing::AllOf(HasSubstr(path), HasSubstr("the stub finds no driver")));
}

TEST(StubClient, C091_AFailedCopyLeavesNothingAndLaterCopiesWork) {
  const auto client = Client::create(Plugin::load(stub_path("stub_gpu_bf16_fails")));
  const Device& device = client->devices()[0];
  const std::vector<std::uint16_t> halves{1, 2};
  const std::string text = error_text<RuntimeError>(
      [&] { (void)put(*client, PJRT_Buffer_Type_BF16, halves, {2}, device); });
  EXPECT_THAT(text, HasSubstr("[PJRT_Client_BufferFromHostBuffer]"));
  EXPECT_THAT(text, HasSubstr("bf16 is not supported"));
  EXPECT_EQ(num_live_buffers(), 0);
  const auto held = std::make_shared<int>(1);
  alignas(64) const std::uint16_t aligned[32] = {};
  const std::int64_t dimensions[] = {32};
  EXPECT_THROW(
      (void)client->buffer_from_host_zero_copy(
          {.data = aligned, .element_type = PJRT_Buffer_Type_BF16, .dimensions = dimensions},
          device, held),
      RuntimeError);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_THAT(get<float>(*put_floats({1, 2, 3}, device), 3), ElementsAre(1, 2, 3));
}

TEST(StubClient, CopiesBetweenDevicesGoThroughTheHostWhereThePluginCannot) {
  const auto client = Client::create(Plugin::load(stub_path("stub_gpu_good")));
  const auto source = put_floats({1, 2}, client->devices()[0]);
  const auto copy = source->copy_to_device(client->devices()[1]);
  EXPECT_EQ(copy->device(), client->devices()[1]);
  EXPECT_THAT(get<float>(*copy, 2), ElementsAre(1, 2));
}

TEST(StubClient, CopiesBetweenPlatformsGoThroughTheHost) {
  const auto stub = Client::create(Plugin::load(stub_path("stub_gpu_good")));
  const auto cpu = Client::create(Plugin::load(main_plugin_path()));
  const auto on_cpu = put_floats({1, 2}, cpu->devices()[0]);
  const auto on_stub = on_cpu->copy_to_device(stub->devices()[0]);
  EXPECT_EQ(on_stub->device(), stub->devices()[0]);
  EXPECT_THAT(get<float>(*on_stub->copy_to_device(cpu->devices()[0]), 2), ElementsAre(1, 2));
}

TEST(StubClient, KeyValueStoreIsHandedToThePlugin) {
  std::map<std::string, std::string> store;
  std::int64_t timeout = 0;
  const KeyValueStore callbacks{
      .put = [&](const std::string& key, const std::string& value) { store[key] = value; },
      .get =
          [&](const std::string& key, std::int64_t timeout_ms) {
            timeout = timeout_ms;
            return store.at(key);
          },
      .try_get = [&](const std::string&) -> std::optional<std::string> { return std::nullopt; }};
  const auto client =
      Client::create(Plugin::load(stub_path("stub_gpu_good")), {.key_value_store = callbacks});
  EXPECT_EQ(client->platform_version(), "got value, absent");
  EXPECT_EQ(timeout, 250);
}

TEST(StubClient, AFailingKeyValueStoreEndsInItsText) {
  const KeyValueStore callbacks{
      .put = [](const std::string&, const std::string&) { throw RuntimeError("store is down"); },
      .get = [](const std::string&, std::int64_t) { return std::string(); },
      .try_get = [](const std::string&) -> std::optional<std::string> { return std::nullopt; }};
  EXPECT_THAT(error_text<RuntimeError>([&] {
                (void)Client::create(Plugin::load(stub_path("stub_gpu_good")),
                                     {.key_value_store = callbacks});
              }),
              HasSubstr("store is down"));
}

}  // namespace
}  // namespace lockstep::pjrt
