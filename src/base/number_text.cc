#include "lockstep/base/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace lockstep {
namespace {

// Longest shortest-form double is 24 characters; fixed whole numbers below 2^53 have 17.
constexpr std::size_t text_capacity = 64;
constexpr double largest_whole = 9007199254740992.0;  // 2^53

std::string_view special_text(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

template <class Number, class... Arguments>
std::string to_text(Number value, Arguments... arguments) {
  std::array<char, text_capacity> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value, arguments...);
  return {text.data(), result.ptr};
}

template <class Number>
std::string shortest_text(Number value) {
  if (!std::isfinite(value)) return std::string(special_text(value));
  const bool is_whole =
      std::abs(static_cast<double>(value)) < largest_whole && std::trunc(value) == value;
  if (is_whole && (value != 0 || !std::signbit(value))) {
    return to_text(static_cast<std::int64_t>(value));
  }
  return to_text(value);
}

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return value;
}

std::string two_digits(std::int64_t value) {
  return (value < 10 ? "0" : "") + to_text(value);
}

}  // namespace

std::string number_text(double value) {
  return shortest_text(value);
}
std::string number_text(float value) {
  return shortest_text(value);
}
std::string number_text(std::int64_t value) {
  return to_text(value);
}

std::string short_number_text(double value, int significant_digits) {
  if (!std::isfinite(value)) return std::string(special_text(value));
  const double magnitude = std::abs(value);
  if (magnitude >= std::pow(10.0, significant_digits) && magnitude < 1e15) {
    return to_text(static_cast<std::int64_t>(std::llround(value)));
  }
  return to_text(value, std::chars_format::general, significant_digits);
}

std::string grouped_number_text(std::int64_t value) {
  std::string text = to_text(value);
  const std::size_t first_digit = value < 0 ? 1 : 0;
  for (std::size_t place = text.size(); place > first_digit + 3;) {
    place -= 3;
    text.insert(place, ",");
  }
  return text;
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 0.9995) return short_number_text(seconds, 2) + " s";
  if (seconds < 59.95) return short_number_text(seconds, 3) + " s";
  if (seconds > 1e12) return short_number_text(seconds, 3) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return to_text(whole / 60) + " min " + two_digits(whole % 60) + " s";
  const std::int64_t minutes = (whole + 30) / 60;
  return to_text(minutes / 60) + " h " + two_digits(minutes % 60) + " min";
}

std::optional<double> parse_number(std::string_view text) {
  return parse_whole<double>(text);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_whole<std::int64_t>(text);
}

}  // namespace lockstep
