#include "lockstep/pjrt/plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string load_error(const std::string& path) {
  return error_text<RuntimeError>([&] { (void)Plugin::load(path); });
}

// What a stub was called for so far.
std::string calls_of(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return "not loaded";
  using Calls = const char*();
  return reinterpret_cast<Calls*>(::dlsym(library, "stub_plugin_calls"))();
}

class PluginTest : public BothPlugins {};
INSTANTIATE_TEST_SUITE_P(Cpu, PluginTest, ::testing::ValuesIn(both_plugins), plugin_name);

TEST_P(PluginTest, TellsVersionAndAttributes) {
  const auto plugin = Plugin::load(path());
  EXPECT_EQ(plugin->path(), std::filesystem::canonical(path()).string());
  EXPECT_EQ(plugin->major_version(), 0);
  EXPECT_EQ(plugin->minor_version(), is_older() ? 81 : 115);
  const auto& version = plugin->attributes().at("stablehlo_current_version");
  const auto& numbers = std::get<std::vector<std::int64_t>>(version);
  ASSERT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers[0], 1);
}

TEST_P(PluginTest, OnePathIsLoadedOnce) {
  const std::filesystem::path original = path();
  const std::filesystem::path detour =
      original.parent_path() / ".." / original.parent_path().filename() / original.filename();
  EXPECT_EQ(Plugin::load(path()), Plugin::load(detour.string()));
}

TEST_P(PluginTest, HasExtensionsByType) {
  EXPECT_NE(Plugin::load(path())->extension(PJRT_Extension_Type_FFI), nullptr);
  EXPECT_EQ(Plugin::load(path())->extension(9999), nullptr);
}

TEST(StubPlugin, C091_InitializeIsCalledOnceBeforeAnythingElse) {
  const std::string path = stub_path("stub_gpu_good");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { (void)Plugin::load(path); });
  threads.clear();
  (void)Client::create(Plugin::load(path));
  const std::string calls = calls_of(path);
  EXPECT_THAT(calls, StartsWith("PJRT_Plugin_Initialize\n"));
  EXPECT_EQ(calls.find("PJRT_Plugin_Initialize", 1), std::string::npos);
  EXPECT_THAT(calls, HasSubstr("PJRT_Client_Create\n"));
}

TEST(StubPlugin, AttributesOfEveryKindAreRead) {
  const NamedValues expected{{"text", std::string("stub")},
                             {"number", std::int64_t{7}},
                             {"version", std::vector<std::int64_t>{1, 2, 3}},
                             {"fraction", 0.5F},
                             {"flag", true}};
  EXPECT_EQ(Plugin::load(stub_path("stub_gpu_good"))->attributes(), expected);
}

TEST(StubPlugin, C091_UnimplementedAttributesAreTolerated) {
  EXPECT_TRUE(Plugin::load(stub_path("stub_gpu_attributes_unimplemented"))->attributes().empty());
}

TEST(StubPlugin, C091_NullOptionalEntriesAreTolerated) {
  const auto plugin = Plugin::load(stub_path("stub_gpu_null_optional_entries"));
  EXPECT_TRUE(plugin->attributes().empty());
  const auto client = Client::create(plugin);
  EXPECT_EQ(client->platform_version(), "");
  EXPECT_EQ(client->devices().at(0).local_hardware_id(), -1);
  EXPECT_FALSE(client->devices().at(0).memory_stats().has_value());
}

TEST(StubPlugin, C091_ANullEntryThatIsNeededIsNamed) {
  const auto client = Client::create(Plugin::load(stub_path("stub_gpu_good")));
  const std::string text =
      error_text<RuntimeError>([&] { (void)client->compile("module {}", {}); });
  EXPECT_THAT(text, HasSubstr("[PJRT_Client_Compile]"));
  EXPECT_THAT(text, HasSubstr("PJRT API 0." + std::to_string(PJRT_API_MINOR)));
  EXPECT_THAT(text, HasSubstr("does not have this entry"));
}

TEST(StubPlugin, EntriesBehindAShorterTableAreNotCalled) {
  const auto client = Client::create(Plugin::load(stub_path("stub_gpu_short_table")));
  EXPECT_EQ(client->devices().size(), 2U);
  auto call = LOCKSTEP_PJRT_CALL(client->api(), PJRT_Client_TopologyDescription);
  EXPECT_FALSE(call.available());
  EXPECT_THAT(error_text<RuntimeError>([&] { call.run(); }),
              HasSubstr("[PJRT_Client_TopologyDescription]"));
}

TEST(StubPlugin, ATableTooShortForAVersionIsRefused) {
  const std::string path = stub_path("stub_gpu_tiny_table");
  EXPECT_THAT(load_error(path), ::testing::AllOf(HasSubstr(path), HasSubstr("has 8 bytes")));
}

TEST(StubPlugin, AnotherMajorVersionIsRefused) {
  const std::string text = load_error(stub_path("stub_gpu_wrong_major"));
  EXPECT_THAT(text, HasSubstr("stub_gpu_wrong_major.so"));
  EXPECT_THAT(text, HasSubstr("PJRT API 7."));
  EXPECT_THAT(text, HasSubstr("major version 0"));
  EXPECT_EQ(calls_of(stub_path("stub_gpu_wrong_major")), "");
}

TEST(StubPlugin, C091_ALibraryWithoutTheSymbolIsRefused) {
  const std::string text = load_error(stub_path("stub_gpu_no_symbol"));
  EXPECT_THAT(text, HasSubstr("stub_gpu_no_symbol.so"));
  EXPECT_THAT(text, HasSubstr("no symbol GetPjrtApi"));
  EXPECT_THAT(text, HasSubstr("undefined symbol"));  // the loader's text
}

TEST(StubPlugin, C091_ATextFileIsRefusedWithTheLoadersText) {
  const std::string path =
      std::filesystem::canonical(::testing::TempDir()) / "lockstep_text_file.so";
  std::ofstream(path) << std::string(100, 'x');
  EXPECT_THAT(load_error(path), ::testing::AllOf(HasSubstr(path), HasSubstr("invalid ELF header")));
}

TEST(StubPlugin, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(load_error("/no/such/plugin.so"),
              ::testing::AllOf(HasSubstr("'/no/such/plugin.so'"), HasSubstr("No such file")));
}

TEST(StubPlugin, C009_AMissingDependencyIsQuoted) {
  EXPECT_THAT(load_error(stub_path("stub_gpu_missing_dependency")),
              HasSubstr("libstub_dependency.so"));
}

TEST(StubPlugin, AFailingInitializeIsQuoted) {
  const std::string path = stub_path("stub_gpu_initialize_fails");
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(load_error(path),
                ::testing::AllOf(HasSubstr(path), HasSubstr("driver is too old")));
  }
}

TEST(StubPlugin, ATableWithoutInitializeIsRefused) {
  EXPECT_THAT(load_error(stub_path("stub_gpu_no_initialize")), HasSubstr("PJRT_Plugin_Initialize"));
}

}  // namespace
}  // namespace lockstep::pjrt
