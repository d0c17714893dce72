#include "probe_process.h"

#include <gtest/gtest.h>

#include "support/subprocess.h"

namespace lockstep::pjrt {

ProbeResult run_probe(const std::vector<std::string>& arguments, const Environment& environment,
                      const std::string& program) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  lockstep::testing::ProcessOptions options{
      .environment = {{"HOME", "/nonexistent"}, {"PATH", "/nonexistent"}},
      .inherits_environment = false};
  for (const auto& [name, value] : environment) options.environment[name] = value;
  const lockstep::testing::ProcessResult result = lockstep::testing::run_process(words, options);
  EXPECT_FALSE(result.timed_out) << program;
  return {.exit_code = result.signal == 0 ? result.exit_status : -result.signal,
          .output = result.output,
          .errors = result.error};
}

}  // namespace lockstep::pjrt
