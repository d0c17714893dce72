#include "pjrt/plugin_trial.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "pjrt/api_call.h"

namespace lockstep::pjrt {
namespace {

constexpr std::chrono::seconds time_limit{30};
constexpr int died_by_exit = 111;

// Only loads and initialises: errors that come back as values are the parent's to meet and to word.
[[noreturn]] void load_in_child(const std::string& path, int error_pipe) {
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(error_pipe, STDERR_FILENO);
  // A library that calls exit() must not run the parent's exit handlers.
  std::atexit([] { ::_exit(died_by_exit); });
  if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    using GetApi = const PJRT_Api*();
    auto* get_api = reinterpret_cast<GetApi*>(::dlsym(library, "GetPjrtApi"));
    const PJRT_Api* api = get_api == nullptr ? nullptr : get_api();
    if (api != nullptr && api->pjrt_api_version.major_version == PJRT_API_MAJOR) {
      std::ignore = LOCKSTEP_PJRT_CALL(api, PJRT_Plugin_Initialize).try_run();
    }
  }
  ::_exit(0);
}

// What comes through the pipe until its end or the time limit; whether the end came.
bool read_until_end(int pipe, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  std::array<char, 4096> chunk;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = left.count() > 0 ? ::poll(&waiting, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t count = ::read(pipe, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return "it wrote nothing to standard error";
  const std::size_t start = text.rfind('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1,
                     end - (start == std::string::npos ? 0 : start + 1) + 1);
}

}  // namespace

std::optional<std::string> trial_load(const std::string& path) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) load_in_child(path, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return std::nullopt;
  }
  std::string written;
  const bool ended = read_until_end(ends[0], written);
  ::close(ends[0]);
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended)
    return fmt::format("it does not come back within {} s of loading", time_limit.count());
  if (WIFSIGNALED(status)) {
    return fmt::format("it ends the process that loads it by signal {} ({}): {}", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)), last_line(written));
  }
  if (WEXITSTATUS(status) != 0) {
    return fmt::format("it ends the process that loads it: {}", last_line(written));
  }
  return std::nullopt;
}

}  // namespace lockstep::pjrt
