#pragma once
/// The table at the end of a run.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

/// Lines of a name and a value, aligned, under a title.
class SummaryTable {
 public:
  explicit SummaryTable(std::string title) : title_(std::move(title)) {}

  /// Adds a line; a line break in `value` continues in the column of values.
  SummaryTable& add(std::string name, std::string value);
  /// Adds an empty line between groups.
  SummaryTable& add_gap();

  /// The whole text, ending in a line break. Names are padded by their width in code points.
  [[nodiscard]] std::string to_string() const;

 private:
  std::string title_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace lockstep
