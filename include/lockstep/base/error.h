#pragma once
/// The library's two exception types and the one way their messages are worded.
#include <stdexcept>
#include <string>
#include <string_view>

namespace lockstep {

/// The caller got something wrong: an argument, an option, a shape, a file's name.
class ValueError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The world got something wrong: a device, a plugin, a disk, a peer.
class RuntimeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws ValueError("[where] what").
/// `what` says what is wrong with the offending values, what was expected and how to mend it.
[[noreturn]] void throw_value_error(std::string_view where, std::string_view what);

/// Throws RuntimeError("[where] what"); see throw_value_error for the wording.
[[noreturn]] void throw_runtime_error(std::string_view where, std::string_view what);

/// The system's text for an errno value, with its number: "Permission denied (errno 13)".
[[nodiscard]] std::string system_error_text(int error_number);

}  // namespace lockstep
