// The lockstep program: parses the command line, runs the subcommand, turns errors into exit
// statuses.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "lockstep/base/error.h"
#include "nearest_name.h"

namespace lockstep::cli {
namespace {

constexpr const char* environment_help = R"(
Environment variables:
  LOCKSTEP_PJRT_PLUGIN_PATH     a PJRT plugin, or a folder of plugins, looked at first
  LOCKSTEP_CPU_DEVICES          how many CPU devices a process exposes (default 1)
  LOCKSTEP_LOG_LEVEL            debug, info, warning, error or off (default info)
  PJRT_NAMES_AND_LIBRARY_PATHS, TPU_LIBRARY_PATH, XLA_FLAGS, NO_COLOR, CI, XDG_CACHE_HOME
                                as elsewhere in the field
)";

// Every long option and subcommand name that `app` knows.
std::vector<std::string> known_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

// The innermost subcommand that was parsed.
const CLI::App& chosen_command(const CLI::App& app) {
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
  return *chosen;
}

int report_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(app);
  std::string message = error.what();
  std::vector<std::string> unknown = command.remaining();
  if (unknown.empty()) unknown = app.remaining(true);
  if (!unknown.empty()) {
    const std::string& word = unknown.front();
    message = fmt::format("unknown {} '{}'", word.starts_with("-") ? "option" : "argument", word);
    const std::string bare = word.substr(0, word.find('='));
    if (const std::string near = nearest_name(bare, known_names(command)); !near.empty()) {
      message += fmt::format("; did you mean '{}'?", near);
    }
  }
  std::string help;
  for (const CLI::App* part = &command; part != &app; part = part->get_parent()) {
    help.insert(0, " " + part->get_name());
  }
  fmt::print(stderr, "lockstep: {}\nSee `lockstep{} --help`.\n", message, help);
  return exit_usage;
}

int run(int argc, char** argv) {
  CLI::App app("Lockstep trains compiled steps on CPU, GPU and TPU devices.", "lockstep");
  app.set_version_flag("--version", LOCKSTEP_VERSION);
  app.footer(environment_help);
  app.require_subcommand(1);
  const std::pair<const char*, std::function<int()>> commands[] = {
      {"devices", add_devices_command(app)},
      {"train", add_train_command(app)},
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    return report_usage_error(app, error);
  }
  for (const auto& [name, command] : commands) {
    if (app.got_subcommand(name)) return command();
  }
  return exit_usage;
}

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  try {
    return lockstep::cli::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "lockstep: {}\n", error.what());
    return lockstep::cli::exit_failed;
  }
}
