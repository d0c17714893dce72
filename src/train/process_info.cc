#include "train/process_info.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace lockstep {

double seconds_since_process_start() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field is the program's name in brackets and may hold anything; count from its end.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  fields.imbue(std::locale::classic());
  constexpr int fields_before_start_time = 19;
  std::string skipped;
  for (int i = 0; i < fields_before_start_time; ++i) fields >> skipped;
  double start_ticks = 0;
  if (!(fields >> start_ticks)) return 0;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double peak_memory_mb() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("VmHWM:")) continue;
    std::istringstream words(line.substr(6));
    words.imbue(std::locale::classic());
    double kibibytes = 0;
    words >> kibibytes;
    return kibibytes / 1024.0;
  }
  return 0;
}

}  // namespace lockstep
