#include "cli/tool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace lockstep::testing {

ProcessResult run_tool(const std::vector<std::string>& arguments, ProcessOptions options) {
  // What the person who runs the tests has set must not change what they show.
  for (const char* name : {"XLA_FLAGS", "LOCKSTEP_CPU_DEVICES", "LOCKSTEP_LOG_LEVEL", "NO_COLOR",
                           "CI", "PJRT_NAMES_AND_LIBRARY_PATHS", "TPU_LIBRARY_PATH"}) {
    options.environment.try_emplace(name, std::nullopt);
  }
  options.environment.try_emplace("LOCKSTEP_PJRT_PLUGIN_PATH", LOCKSTEP_TEST_PJRT_DIR "/cpu");
  std::vector<std::string> command{LOCKSTEP_TEST_TOOL};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, options);
}

nlohmann::json only_json_line(const ProcessResult& result) {
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1)
      << result.output << result.error;
  const auto json = nlohmann::json::parse(result.output, nullptr, false);
  EXPECT_TRUE(json.is_object()) << result.output << result.error;
  return json;
}

}  // namespace lockstep::testing
