#pragma once
// Running the tool in tests.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/subprocess.h"

namespace lockstep::testing {

// Runs `lockstep arguments...`.
ProcessResult run_tool(const std::vector<std::string>& arguments, ProcessOptions options = {});

// Standard output as JSON; fails the test where it is not exactly one object on one line.
nlohmann::json only_json_line(const ProcessResult& result);

}  // namespace lockstep::testing
