#pragma once
// runtime_probe, run in a process of its own with an environment of its own.
#include <string>
#include <utility>
#include <vector>

namespace lockstep::pjrt {

struct ProbeResult {
  int exit_code = -1;  // negative: died of that signal
  std::string output;
  std::string errors;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// Nothing of this process's environment is passed on but `environment`.
ProbeResult run_probe(const std::vector<std::string>& arguments, const Environment& environment,
                      const std::string& program = LOCKSTEP_TEST_RUNTIME_PROBE);

}  // namespace lockstep::pjrt
