#include "lockstep/train/summary.h"

#include <algorithm>

#include "train/text_width.h"

namespace lockstep {

SummaryTable& SummaryTable::add(std::string name, std::string value) {
  lines_.emplace_back(std::move(name), std::move(value));
  return *this;
}

SummaryTable& SummaryTable::add_gap() {
  lines_.emplace_back();
  return *this;
}

std::string SummaryTable::to_string() const {
  constexpr std::string_view indent = "  ";
  std::size_t widest = 0;
  for (const auto& [name, value] : lines_) widest = std::max(widest, text_width(name));
  std::string text = title_ + '\n';
  for (const auto& [name, value] : lines_) {
    if (name.empty() && value.empty()) {
      text += '\n';
      continue;
    }
    text.append(indent).append(name).append(widest - text_width(name), ' ').append(indent);
    const std::string continuation = '\n' + std::string(widest + 2 * indent.size(), ' ');
    for (const char character : value) {
      if (character == '\n') {
        text += continuation;
      } else {
        text += character;
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace lockstep
