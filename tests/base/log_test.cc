#include "lockstep/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Log, WritesToStandardErrorOnly) {
  set_log_level(LogLevel::Info);
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  log_warning("falling back to cpu");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("warning: falling back to cpu\n"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Log, HidesWhatIsBelowTheLevel) {
  set_log_level(LogLevel::Error);
  testing::internal::CaptureStderr();
  log_info("hidden");
  log_warning("hidden");
  log_error("shown");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("hidden")));
  EXPECT_THAT(text, testing::HasSubstr("shown"));
  set_log_level(LogLevel::Info);
}

}  // namespace
}  // namespace lockstep
