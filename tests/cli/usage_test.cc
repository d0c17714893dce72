#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tool.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Usage, HelpIsThereOnEveryLevel) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"devices", "--help"},
                                             {"train", "--help"},
                                             {"train", "fashion-mnist", "--help"}}) {
    const ProcessResult result = run_tool(words);
    EXPECT_EQ(result.exit_status, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("--help"));
  }
  EXPECT_THAT(run_tool({"--help"}).output, HasSubstr("LOCKSTEP_PJRT_PLUGIN_PATH"));
}

TEST(Usage, AnUnknownOptionIsRefusedWithTheNearestKnownOne) {
  const ProcessResult result = run_tool({"train", "fashion-mnist", "--max-step", "3"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, AllOf(HasSubstr("'--max-step'"), HasSubstr("'--max-steps'"),
                                  HasSubstr("`lockstep train fashion-mnist --help`")));
}

TEST(Usage, AnUnknownCommandIsRefusedWithTheNearestKnownOne) {
  const ProcessResult result = run_tool({"device"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.error, AllOf(HasSubstr("'device'"), HasSubstr("'devices'")));
}

TEST(Usage, NoCommandIsWrongUsage) {
  EXPECT_EQ(run_tool({}).exit_status, 2);
  EXPECT_EQ(run_tool({"train"}).exit_status, 2);
}

TEST(Usage, VersionGoesToStandardOutput) {
  const ProcessResult result = run_tool({"--version"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace lockstep::testing
