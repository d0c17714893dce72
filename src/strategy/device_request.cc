#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/strategy/create_strategy.h"

namespace lockstep {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  text = trim(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0,2" or "3,": a comma after the last index is allowed.
std::optional<std::vector<std::int64_t>> index_list(std::string_view text) {
  std::vector<std::int64_t> indices;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::optional<std::int64_t> index = whole_number(text.substr(0, comma));
    if (!index) return std::nullopt;
    indices.push_back(*index);
    text = comma == std::string_view::npos ? std::string_view() : trim(text.substr(comma + 1));
  }
  return indices;
}

}  // namespace

DeviceRequest::DeviceRequest(double fraction) : value_(fmt::format("{:#}", fraction)) {}

DeviceRequest DeviceRequest::parse(const std::string& text) {
  const std::string_view word = trim(text);
  if (word == "auto") return DeviceRequest(std::string(word));
  if (const auto count = whole_number(word))
    return DeviceRequest(*count);  // braces would make it a list
  if (word.size() >= 2 && word.front() == '[' && word.back() == ']') {
    if (auto indices = index_list(trim(word.substr(1, word.size() - 2)))) {
      return DeviceRequest(std::move(*indices));
    }
  } else if (word.find(',') != std::string_view::npos) {
    if (auto indices = index_list(word)) return DeviceRequest(std::move(*indices));
  }
  throw_value_error("devices", fmt::format("'{}' does not say which devices; expected a positive "
                                           "count (3), a list of indices (0,2 or [3] or 3,), or "
                                           "auto",
                                           text));
}

}  // namespace lockstep
