#include "nearest_name.h"

#include <algorithm>
#include <numeric>

namespace lockstep::cli {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : names) {
    if (const std::size_t distance = edit_distance(wanted, name); distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace lockstep::cli
