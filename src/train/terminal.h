#pragma once
/// What is known of the terminal behind a file descriptor.
#include <cstddef>
#include <string_view>

namespace lockstep {

/// A terminal whose cursor can be moved: isatty and TERM neither unset, empty nor "dumb".
[[nodiscard]] bool is_capable_terminal(int file_descriptor);
/// Whether NO_COLOR is unset or empty (https://no-color.org).
[[nodiscard]] bool colours_are_wanted();
/// Whether the environment's locale (LC_ALL, LC_CTYPE, LANG) names UTF-8.
[[nodiscard]] bool locale_is_utf8();
/// Whether a continuous-integration service runs this: CI is set and neither empty nor "false".
[[nodiscard]] bool is_continuous_integration();
/// The window's present width; COLUMNS or 80 where the terminal does not tell.
[[nodiscard]] std::size_t terminal_columns(int file_descriptor);
/// Writes all of `text`; gives up on an error.
void write_ignoring_errors(int file_descriptor, std::string_view text) noexcept;

}  // namespace lockstep
