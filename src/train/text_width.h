#pragma once
/// Widths of UTF-8 text on a terminal, one column for each code point.
#include <cstddef>
#include <string_view>

namespace lockstep {

[[nodiscard]] constexpr bool is_utf8_continuation(char character) {
  return (static_cast<unsigned char>(character) & 0xC0U) == 0x80U;
}

[[nodiscard]] constexpr std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (const char character : text) width += is_utf8_continuation(character) ? 0 : 1;
  return width;
}

/// The longest beginning of `text` that is at most `width` columns wide.
[[nodiscard]] constexpr std::string_view fit_text(std::string_view text, std::size_t width) {
  std::size_t place = 0;
  for (std::size_t used = 0; place < text.size(); ++place) {
    if (is_utf8_continuation(text[place])) continue;
    if (used++ == width) break;
  }
  return text.substr(0, place);
}

}  // namespace lockstep
