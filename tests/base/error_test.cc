#include "lockstep/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace lockstep {
namespace {

using testing::HasSubstr;

TEST(Error, ValueErrorIsAnInvalidArgumentAndSaysWhere) {
  try {
    throw_value_error("place_batch", "leaf 'b' has 10 rows");
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "[place_batch] leaf 'b' has 10 rows");
    EXPECT_NE(dynamic_cast<const ValueError*>(&error), nullptr);
  }
}

TEST(Error, RuntimeErrorIsARuntimeErrorAndSaysWhere) {
  try {
    throw_runtime_error("devices", "no plugin");
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "[devices] no plugin");
    EXPECT_NE(dynamic_cast<const RuntimeError*>(&error), nullptr);
  }
}

TEST(Error, SystemErrorTextHasTextAndNumber) {
  EXPECT_THAT(system_error_text(EACCES), HasSubstr("Permission denied"));
  EXPECT_THAT(system_error_text(EACCES), HasSubstr("errno 13"));
}

}  // namespace
}  // namespace lockstep
