#include "lockstep/base/number_text.h"

#include <clocale>
#include <cmath>
#include <limits>
#include <locale>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

// A locale that would spoil every number if it were used: decimal comma, grouping by dots.
class CommaPunctuation : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(NumberText, IsShortestAndReadsBack) {
  EXPECT_EQ(number_text(0.5), "0.5");
  EXPECT_EQ(number_text(1234567.0), "1234567");
  EXPECT_EQ(number_text(100000.0), "100000");
  EXPECT_EQ(number_text(1e-8), "1e-08");
  EXPECT_EQ(number_text(0.1f), "0.1");
  EXPECT_EQ(number_text(-0.0), "-0");
  EXPECT_EQ(number_text(std::int64_t{-9223372036854775807} - 1), "-9223372036854775808");
  for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, 9007199254740993.0, -2.5e-7}) {
    EXPECT_EQ(parse_number(number_text(value)), value);
  }
  for (const float value : {0.1f, 1.0f / 3.0f, 16777216.0f, 1e-45f, 3.4e38f}) {
    EXPECT_EQ(static_cast<float>(*parse_number(number_text(value))), value);
  }
}

TEST(NumberText, NamesWhatIsNotFinite) {
  EXPECT_EQ(number_text(std::nan("")), "nan");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(number_text(-std::numeric_limits<float>::infinity()), "-inf");
  EXPECT_TRUE(std::isnan(*parse_number("nan")));
  EXPECT_EQ(*parse_number("-inf"), -std::numeric_limits<double>::infinity());
}

TEST(NumberText, C083_DoesNotFollowTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new CommaPunctuation));
  EXPECT_EQ(number_text(0.5), "0.5");
  EXPECT_EQ(number_text(1234567.0), "1234567");
  EXPECT_EQ(number_text(1e-8), "1e-08");
  EXPECT_EQ(short_number_text(1234.5678), "1235");
  EXPECT_EQ(short_number_text(0.0012345678), "0.001235");
  EXPECT_EQ(*parse_number("0.001"), 0.001);
  std::locale::global(before);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr) {
    EXPECT_EQ(number_text(0.5), "0.5");
    EXPECT_EQ(*parse_number("0.001"), 0.001);
    std::setlocale(LC_ALL, "C");
  }
}

TEST(NumberText, ParsesTheWholeTextOrNothing) {
  EXPECT_FALSE(parse_number(""));
  EXPECT_FALSE(parse_number("1,5"));
  EXPECT_FALSE(parse_number("1.5x"));
  EXPECT_FALSE(parse_integer("12.0"));
  EXPECT_FALSE(parse_integer("9223372036854775808"));
  EXPECT_EQ(parse_integer("-12"), -12);
}

TEST(NumberText, IsReadableForAPerson) {
  EXPECT_EQ(short_number_text(0.41234), "0.4123");
  EXPECT_EQ(short_number_text(84321.7), "84322");
  EXPECT_EQ(short_number_text(1.234e-8), "1.234e-08");
  EXPECT_EQ(short_number_text(std::nan("")), "nan");
  EXPECT_EQ(grouped_number_text(1234567), "1,234,567");
  EXPECT_EQ(grouped_number_text(-123), "-123");
  EXPECT_EQ(grouped_number_text(-1234), "-1,234");
  EXPECT_EQ(duration_text(0.4213), "0.42 s");
  EXPECT_EQ(duration_text(12.34), "12.3 s");
  EXPECT_EQ(duration_text(59.97), "1 min 00 s");
  EXPECT_EQ(duration_text(247), "4 min 07 s");
  EXPECT_EQ(duration_text(11100), "3 h 05 min");
  EXPECT_EQ(duration_text(std::nan("")), "?");
}

}  // namespace
}  // namespace lockstep
