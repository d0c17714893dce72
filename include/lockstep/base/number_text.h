#pragma once
/// Numbers as text, the same under every locale.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

/// The shortest text that reads back as exactly `value`: "0.5", "1234567", "1e-08".
/// Whole numbers below 2^53 in size have no exponent; otherwise "nan", "inf", "-inf".
[[nodiscard]] std::string number_text(double value);
/// As above for a float: 0.1f is "0.1".
[[nodiscard]] std::string number_text(float value);
[[nodiscard]] std::string number_text(std::int64_t value);

/// At most `significant_digits` digits, for a person: "0.4123", "1.2e-08", "8432".
[[nodiscard]] std::string short_number_text(double value, int significant_digits = 4);

/// Groups of three: "1,234,567".
[[nodiscard]] std::string grouped_number_text(std::int64_t value);

/// A length of time in seconds for a person: "0.42 s", "12.3 s", "4 min 07 s", "3 h 05 min".
[[nodiscard]] std::string duration_text(double seconds);

/// The number that the whole of `text` spells ("nan" and "inf" included), or nothing.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
/// The integer that the whole of `text` spells in base ten, or nothing.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace lockstep
