// Shows what the runtime does in a process of its own, one result a line:
//   runtime_probe ACCELERATOR [set_cpu_device_count=N] [retry] [set_after=N]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/runtime.h"

namespace {

template <class Body>
void guarded(const char* what, Body body) {
  try {
    body();
  } catch (const lockstep::ValueError& error) {
    std::printf("%s: ValueError %s\n", what, error.what());
  } catch (const lockstep::RuntimeError& error) {
    std::printf("%s: RuntimeError %s\n", what, error.what());
  }
}

void show_devices(const std::string& accelerator) {
  guarded("devices", [&] {
    std::string text;
    for (const lockstep::Device& device : lockstep::devices(accelerator)) {
      text += " " + device.to_string() + "/" + device.platform_name();
    }
    std::printf("devices:%s\n", text.c_str());
    if (accelerator == "auto") {
      std::printf("default: %s\n", lockstep::default_device().to_string().c_str());
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const std::string accelerator = argv[1];
  std::printf("started before: %d\n", lockstep::backends_started() ? 1 : 0);
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    const std::string before = "set_cpu_device_count=";
    if (option.starts_with(before)) {
      guarded("set",
              [&] { lockstep::set_cpu_device_count(std::stoll(option.substr(before.size()))); });
    }
  }
  show_devices(accelerator);
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    const std::string after = "set_after=";
    if (option == "retry") show_devices(accelerator);
    if (option.starts_with(after)) {
      guarded("set",
              [&] { lockstep::set_cpu_device_count(std::stoll(option.substr(after.size()))); });
    }
  }
  std::printf("started after: %d\n", lockstep::backends_started() ? 1 : 0);
  std::printf("process: %d of %d\n", static_cast<int>(lockstep::process_index()),
              static_cast<int>(lockstep::process_count()));
  for (const lockstep::PluginCandidate& candidate : lockstep::plugin_candidates()) {
    std::printf("candidate: [%s] %s (%s) %s%s%s\n", candidate.accelerator.c_str(),
                candidate.path.c_str(), candidate.found_by.c_str(),
                candidate.tried ? "tried" : "not tried", candidate.error.empty() ? "" : ": ",
                candidate.error.c_str());
  }
  return 0;
}
