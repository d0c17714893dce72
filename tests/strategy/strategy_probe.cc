// create_strategy in a process of its own, once for each pair of arguments:
//   strategy_probe ACCELERATOR DEVICES [ACCELERATOR DEVICES]...
#include <cstdio>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/runtime.h"
#include "lockstep/strategy/create_strategy.h"

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  for (int i = 1; i + 1 < argc; i += 2) {
    try {
      const auto strategy =
          lockstep::create_strategy(argv[i], lockstep::DeviceRequest::parse(argv[i + 1]));
      std::printf("%s root %s process %d zero %d\n", strategy->to_string().c_str(),
                  strategy->root_device().to_string().c_str(),
                  static_cast<int>(strategy->process_index()),
                  static_cast<int>(strategy->is_global_zero()));
    } catch (const lockstep::ValueError& error) {
      std::printf("ValueError %s\n", error.what());
    } catch (const lockstep::RuntimeError& error) {
      std::printf("RuntimeError %s\n", error.what());
    }
  }
  std::printf("backends started: %d\n", lockstep::backends_started() ? 1 : 0);
  return 0;
}
