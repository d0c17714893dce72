#include "data/npy_header.h"

#include <fmt/format.h>

#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/number_text.h"

namespace lockstep::data {
namespace {

class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (place_ != text_.size()) fail("the end of the header");
    if (!has_descr_) fail("a key 'descr'");
    if (!has_order_) fail("a key 'fortran_order'");
    if (!has_shape_) fail("a key 'shape'");
    return header_;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw ValueError(fmt::format("expected {} at byte {} of the header, found '{:.20}'", expected,
                                 place_, text_.substr(place_)));
  }

  void skip_blanks() {
    constexpr std::string_view blanks = " \t\r\n";
    while (place_ < text_.size() && blanks.find(text_[place_]) != std::string_view::npos) ++place_;
  }

  bool accept(char character) {
    skip_blanks();
    if (place_ == text_.size() || text_[place_] != character) return false;
    ++place_;
    return true;
  }

  void expect(char character) {
    if (!accept(character)) fail(fmt::format("'{}'", character));
  }

  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!text_.substr(place_).starts_with(word)) return false;
    place_ += word.size();
    return true;
  }

  std::string_view parse_string() {
    skip_blanks();
    const char quote = place_ < text_.size() ? text_[place_] : '\0';
    if (quote != '\'' && quote != '"') fail("a quoted text");
    const std::size_t end = text_.find(quote, place_ + 1);
    if (end == std::string_view::npos) fail("a closing quote");
    const std::string_view content = text_.substr(place_ + 1, end - place_ - 1);
    place_ = end + 1;
    return content;
  }

  void parse_entry() {
    const std::size_t key_place = place_;
    const std::string_view key = parse_string();
    expect(':');
    if (key == "descr" && !has_descr_) {
      has_descr_ = true;
      parse_descr();
    } else if (key == "fortran_order" && !has_order_) {
      has_order_ = true;
      header_.fortran_order = accept_word("True");
      if (!header_.fortran_order && !accept_word("False")) fail("True or False");
    } else if (key == "shape" && !has_shape_) {
      has_shape_ = true;
      parse_shape();
    } else {
      place_ = key_place;
      fail("each of the keys 'descr', 'fortran_order' and 'shape' once");
    }
  }

  void parse_descr() {
    skip_blanks();
    if (place_ < text_.size() && (text_[place_] == '[' || text_[place_] == '(')) {
      header_.is_structured = true;
      const std::size_t begin = place_;
      skip_brackets();
      header_.descr = text_.substr(begin, place_ - begin);
    } else {
      header_.descr = parse_string();
    }
  }

  void skip_brackets() {
    std::size_t depth = 0;
    do {
      if (place_ >= text_.size()) fail("a closing bracket");
      const char character = text_[place_];
      if (character == '\'' || character == '"') {
        static_cast<void>(parse_string());
        continue;
      }
      depth += character == '[' || character == '(' ? 1 : 0;
      depth -= character == ']' || character == ')' ? 1 : 0;
      ++place_;
    } while (depth > 0);
  }

  void parse_shape() {
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::size_t end = place_;
      while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
      const std::optional<std::int64_t> length = parse_integer(text_.substr(place_, end - place_));
      if (!length) fail("a length that is not negative and below 2^63");
      header_.shape.push_back(*length);
      place_ = end;
      accept_word("L");  // as Python 2 wrote it
      if (accept(',')) continue;
      expect(')');
      break;
    }
  }

  std::string_view text_;
  std::size_t place_ = 0;
  NpyHeader header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  return HeaderParser(text).parse();
}

}  // namespace lockstep::data
