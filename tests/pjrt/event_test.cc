#include "lockstep/pjrt/event.h"

#include <future>

#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

class EventTest : public BothPlugins {};
INSTANTIATE_TEST_SUITE_P(Cpu, EventTest, ::testing::ValuesIn(both_plugins), plugin_name);

TEST_P(EventTest, CallsBackOnceWithoutATextOnSuccess) {
  const auto add = client().compile(add_program(4, false), {});
  const auto x = put_floats({1, 2, 3, 4}, device(0));
  const auto sum = run(*add, {x, x});
  std::promise<std::string> told;
  sum[0]->ready_event().on_ready([&](std::string error) { told.set_value(std::move(error)); });
  EXPECT_EQ(told.get_future().get(), "");
}

TEST_P(EventTest, FailuresReachAwaitAndCallback) {
  const auto add = client().compile(add_program(4, true), {});
  const auto x = put_floats({1, 2, 3, 4}, device(0));
  const auto sum = run(*add, {x, put_floats({1, 1, 1, 1}, device(0))});
  // A donated buffer's contents never come; older runtimes refuse the question itself.
  std::promise<std::string> told;
  const auto ask = [&] {
    const Event event = x->ready_event();
    event.on_ready([&](std::string error) { told.set_value(std::move(error)); });
    event.await();
  };
  EXPECT_THAT(error_text<RuntimeError>(ask), ::testing::HasSubstr("onat"));
}

TEST_P(EventTest, MovingHandsTheEventOver) {
  const auto x = put_floats({1}, device(0));
  Event first = x->ready_event();
  Event second = std::move(first);
  EXPECT_FALSE(second.is_null());
  second.await();
  EXPECT_TRUE(second.is_ready());
  Event third;
  third = std::move(second);
  EXPECT_FALSE(third.is_null());
}

TEST(NullEvent, IsReadyAtOnce) {
  const Event none;
  EXPECT_TRUE(none.is_null());
  EXPECT_TRUE(none.is_ready());
  none.await();
  bool called = false;
  none.on_ready([&](const std::string& error) { called = error.empty(); });
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace lockstep::pjrt
