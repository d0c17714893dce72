#include "support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>

namespace lockstep::testing {
namespace {

using Clock = std::chrono::steady_clock;

// "NAME=value" for each variable that the program is given.
std::vector<std::string> variables_of(const ProcessOptions& options) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; options.inherits_environment && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : options.environment) {
    if (value) {
      variables[name] = *value;
    } else {
      variables.erase(name);
    }
  }
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Not by fork: what a child may do between fork and exec is little where there are threads.
pid_t start(std::vector<std::string> words, const ProcessOptions& options, int output, int error) {
  std::vector<std::string> variables = variables_of(options);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  // A shell starts what it runs in the background with SIGINT ignored; a test's child heeds it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t heeded;
  sigemptyset(&heeded);
  sigaddset(&heeded, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &heeded);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int failure = posix_spawn(&child, words.front().c_str(), &actions, &attributes,
                                  pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("run_process: cannot start " + words.front());
  return child;
}

// Appends what can be read; false at the end of the stream.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> bytes;
  const ssize_t count = read(descriptor, bytes.data(), bytes.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  text.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  int output[2];
  int error[2];
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0) {
    throw std::runtime_error("run_process: no pipe");
  }
  const pid_t child = start(command, options, output[1], error[1]);
  close(output[1]);
  close(error[1]);

  ProcessResult result;
  const auto deadline = Clock::now() + std::chrono::duration<double>(options.timeout_seconds);
  bool output_open = true;
  bool error_open = true;
  bool signalled = options.signal == 0;
  while (output_open || error_open) {
    if (!result.timed_out && Clock::now() > deadline) {
      result.timed_out = true;
      kill(child, SIGKILL);
    }
    pollfd descriptors[] = {{output_open ? output[0] : -1, POLLIN, 0},
                            {error_open ? error[0] : -1, POLLIN, 0}};
    poll(descriptors, 2, 100);
    if (descriptors[0].revents != 0) output_open = read_some(output[0], result.output);
    if (descriptors[1].revents != 0) error_open = read_some(error[0], result.error);
    if (!signalled && result.error.find(options.signal_after_text) != std::string::npos) {
      signalled = true;
      kill(child, options.signal);
    }
  }
  close(output[0]);
  close(error[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace lockstep::testing
