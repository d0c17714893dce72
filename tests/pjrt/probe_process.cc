#include "probe_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace lockstep::pjrt {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

ProbeResult run_probe(const std::vector<std::string>& arguments, const Environment& environment,
                      const std::string& program) {
  const std::string base = testing::TempDir() + "/lockstep_probe_" + std::to_string(::getpid());
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables{"HOME=/nonexistent", "PATH=/nonexistent"};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, (base + ".out").c_str(), flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (base + ".err").c_str(), flags, 0600);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, program.c_str(), &actions, nullptr,
                                  pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    ADD_FAILURE() << program << " cannot be started";
    return {};
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ProbeResult result{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
                     .output = read_file(base + ".out"),
                     .errors = read_file(base + ".err")};
  std::filesystem::remove(base + ".out");
  std::filesystem::remove(base + ".err");
  return result;
}

}  // namespace lockstep::pjrt
