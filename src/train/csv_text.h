#pragma once
/// Fields of CSV lines (RFC 4180), without line breaks inside fields.
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// `field`, in quotes where it has a comma, a quote or a blank at either end.
[[nodiscard]] inline std::string csv_field(std::string_view field) {
  const bool is_padded = !field.empty() && (field.front() == ' ' || field.back() == ' ');
  if (!is_padded && field.find_first_of(",\"") == std::string_view::npos) return std::string(field);
  std::string quoted = "\"";
  for (const char character : field) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

/// The fields of one line (given without its line break).
[[nodiscard]] inline std::vector<std::string> split_csv_line(std::string_view line) {
  std::vector<std::string> fields(1);
  bool in_quotes = false;
  for (std::size_t place = 0; place < line.size(); ++place) {
    const char character = line[place];
    if (character == '"') {
      const bool is_doubled = in_quotes && place + 1 < line.size() && line[place + 1] == '"';
      if (is_doubled) {
        fields.back() += '"';
        ++place;
      } else {
        in_quotes = !in_quotes;
      }
    } else if (character == ',' && !in_quotes) {
      fields.emplace_back();
    } else {
      fields.back() += character;
    }
  }
  return fields;
}

}  // namespace lockstep
