#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// The name nearest to `wanted` by edit distance, or "" where none is near (more than a third
// differs).
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace lockstep::cli
