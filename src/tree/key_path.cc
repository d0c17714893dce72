#include "lockstep/tree/key_path.h"

namespace lockstep {

std::string to_string(const KeyPath& path) {
  std::string text;
  for (const auto& step : path) {
    if (!text.empty()) text += '/';
    if (const auto* key = std::get_if<std::string>(&step)) {
      text += *key;
    } else {
      text += std::to_string(std::get<std::size_t>(step));
    }
  }
  return text;
}

}  // namespace lockstep
