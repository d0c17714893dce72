#include "support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace lockstep::testing {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void become(const std::vector<std::string>& command, const ProcessOptions& options,
                         int output, int error) {
  dup2(output, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  const int null_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null_input, STDIN_FILENO);
  for (const auto& [name, value] : options.environment) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
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
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("run_process: no process");
  if (child == 0) become(command, options, output[1], error[1]);
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
