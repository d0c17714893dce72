#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/tool.h"
#include "support/temporary_directory.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Devices, JsonListsPluginsAndDevices) {
  const ProcessResult result =
      run_tool({"devices", "--json"}, {.environment = {{"LOCKSTEP_CPU_DEVICES", "3"}}});
  ASSERT_EQ(result.exit_status, 0) << result.error;
  const auto json = only_json_line(result);
  ASSERT_EQ(json["devices"].size(), 3U);
  EXPECT_EQ(json["devices"][2]["name"], "cpu:2");
  EXPECT_EQ(json["devices"][2]["addressable"], true);
  EXPECT_EQ(json["plugins"][0]["found_by"], "LOCKSTEP_PJRT_PLUGIN_PATH");
  EXPECT_THAT(json["plugins"][0]["api_version"].get<std::string>(), ::testing::StartsWith("0."));
}

TEST(Devices, AnAcceleratorThatIsNotThereIsAnErrorWithTheInstallCommand) {
  const ProcessResult result = run_tool({"devices", "--accelerator", "tpu"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, AllOf(HasSubstr("tpu"), HasSubstr("pip install libtpu")));
}

TEST(Devices, AnUnknownAcceleratorListsTheChoices) {
  const ProcessResult result = run_tool({"devices", "--accelerator", "cuda"});
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.error, AllOf(HasSubstr("cuda"), HasSubstr("auto"), HasSubstr("gpu")));
}

TEST(Devices, C009_ABrokenPluginIsListedWithTheLoadersReason) {
  const TemporaryDirectory folder;
  std::ofstream(folder / "pjrt_plugin_gpu.so") << std::string(200, 'x');
  const std::string path = folder / "pjrt_plugin_gpu.so";
  const ProcessResult result =
      run_tool({"devices", "--accelerator", "gpu"},
               {.environment = {{"LOCKSTEP_PJRT_PLUGIN_PATH", std::nullopt},
                                {"PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:" + path}}});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.error, AllOf(HasSubstr(path), HasSubstr("invalid ELF header")));
}

TEST(Devices, C011_AMisspeltXlaFlagIsQuotedBeforeThePluginSeesIt) {
  for (const std::string flags :
       {"\u2013-xla_force_host_platform_device_count=4", "--xla_no_such_flag=1"}) {
    const ProcessResult result = run_tool({"devices"}, {.environment = {{"XLA_FLAGS", flags}}});
    EXPECT_NE(result.exit_status, 0) << flags;
    EXPECT_EQ(result.signal, 0) << flags;
    EXPECT_THAT(result.error,
                AllOf(HasSubstr("XLA_FLAGS"), HasSubstr(flags.substr(0, flags.find('=')))))
        << flags;
  }
}

TEST(Devices, C011_TheFieldsDeviceCountFlagIsHonoured) {
  const ProcessResult result =
      run_tool({"devices", "--json"},
               {.environment = {{"XLA_FLAGS", "--xla_force_host_platform_device_count=4"}}});
  ASSERT_EQ(result.exit_status, 0) << result.error;
  EXPECT_EQ(only_json_line(result)["devices"].size(), 4U);
}

}  // namespace
}  // namespace lockstep::testing
