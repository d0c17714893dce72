#pragma once
/// Reading environment variables in one place.
#include <optional>
#include <string>

namespace lockstep {

/// The variable's value, or nothing where it is unset. An empty value is a value.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

}  // namespace lockstep
