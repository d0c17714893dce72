#pragma once
// Runs a program in a process of its own and gives back what it printed and how it ended.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::testing {

struct ProcessResult {
  int exit_status = -1;  // -1 where a signal ended it
  int signal = 0;        // 0 where it exited
  bool timed_out = false;
  std::string output;  // standard output
  std::string error;   // standard error
};

struct ProcessOptions {
  // Added to this process's environment; nothing unsets the variable.
  std::map<std::string, std::optional<std::string>> environment;
  bool inherits_environment = true;  // else `environment` is all there is
  double timeout_seconds = 120;      // then it is killed
  // Sends this signal once, when standard error has first shown `signal_after_text`.
  int signal = 0;
  std::string signal_after_text;
};

// `command[0]` is the program's path.
ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessOptions& options = {});

}  // namespace lockstep::testing
