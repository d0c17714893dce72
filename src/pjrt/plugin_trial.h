#pragma once
// Loading a plugin in a child process first, so that one that ends its process does not end this
// one.
#include <optional>
#include <string>

namespace lockstep::pjrt {

// What became of a child that loaded and initialised the library: nothing where it lived (or where
// no child could be made), else how it ended and what it last wrote to standard error.
[[nodiscard]] std::optional<std::string> trial_load(const std::string& path);

}  // namespace lockstep::pjrt
