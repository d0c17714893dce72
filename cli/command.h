#pragma once
// What a subcommand of the tool is: options on a CLI11 app, and what runs when it is chosen.
#include <functional>

namespace CLI {
class App;
}

namespace lockstep::cli {

// Exit statuses (docs/tool.md).
inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

// Adds the subcommand to `app`; the returned function runs it and gives the exit status.
std::function<int()> add_devices_command(CLI::App& app);
std::function<int()> add_train_command(CLI::App& app);

}  // namespace lockstep::cli
