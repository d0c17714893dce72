#include "lockstep/train/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>

#include "support/temporary_directory.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Sets an environment variable for the scope; nothing unsets it.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* former = std::getenv(name_.c_str())) former_ = former;
    set(value);
  }
  ~ScopedVariable() { set(former_ ? former_->c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const char* value) const {
    value != nullptr ? setenv(name_.c_str(), value, 1) : unsetenv(name_.c_str());
  }
  std::string name_;
  std::optional<std::string> former_;
};

// A pseudo-terminal: what is written to slave() can be read as text().
class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    winsize size{24, columns, 0, 0};
    is_open_ = openpty(&master_, &slave_, nullptr, nullptr, &size) == 0;
  }
  ~Terminal() {
    ::close(master_);
    ::close(slave_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] int slave() const { return slave_; }
  void resize(unsigned short columns) const {
    const winsize size{24, columns, 0, 0};
    ioctl(slave_, TIOCSWINSZ, &size);
  }
  // What was written since the last call.
  [[nodiscard]] std::string text() const {
    std::string all;
    char part[4096];
    for (pollfd ready{master_, POLLIN, 0};
         poll(&ready, 1, 50) > 0 && (ready.revents & POLLIN) != 0;) {
      const ssize_t count = ::read(master_, part, sizeof part);
      if (count <= 0) break;
      all.append(part, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int master_ = -1;
  int slave_ = -1;
  bool is_open_ = false;
};

// The widest line that a terminal would show, in code points.
std::size_t widest_line(const std::string& text) {
  const std::string plain = std::regex_replace(text, std::regex("\x1b\\[[0-9;]*[A-Za-z]"), "");
  std::size_t widest = 0;
  std::size_t width = 0;
  for (const char c : plain) {
    if (c == '\r' || c == '\n') {
      width = 0;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      widest = std::max(widest, ++width);
    }
  }
  return widest;
}

class Progress : public ::testing::Test {
 protected:
  ScopedVariable ci_{"CI", nullptr};
  ScopedVariable term_{"TERM", "xterm-256color"};
  ScopedVariable no_colour_{"NO_COLOR", nullptr};
  ScopedVariable locale_{"LC_ALL", "C.UTF-8"};
  double time_ = 0;

  [[nodiscard]] ProgressOptions options(int descriptor) {
    return {.label = "mlp", .file_descriptor = descriptor, .clock = [this] { return time_; }};
  }
  // 10,000 quick steps, one each millisecond.
  void run(ProgressDisplay& display) {
    display.start(0, 10000);
    for (std::int64_t step = 1; step <= 10000; ++step) {
      time_ += 0.001;
      if (step % 50 == 0)
        display.set_metrics({{"loss", 1.0 / static_cast<double>(step)}, {"accuracy", 0.5}});
      display.update(step);
    }
    display.finish();
  }
};

class ProgressOnATerminal : public Progress {
 protected:
  void SetUp() override {
    if (!Terminal(80).is_open()) GTEST_SKIP() << "this machine has no pseudo-terminals (/dev/pts)";
  }
};

TEST_F(Progress, C067_APipeGetsPlainLines) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ProgressDisplay display(options(ends[1]));
  EXPECT_EQ(display.mode(), ProgressMode::Plain);
  run(display);
  ::close(ends[1]);
  std::string text(200000, '\0');
  text.resize(static_cast<std::size_t>(::read(ends[0], text.data(), text.size())));
  ::close(ends[0]);
  EXPECT_THAT(text,
              AllOf(Not(HasSubstr("\r")), Not(HasSubstr("\x1b")), HasSubstr("10000/10000 (100%)"),
                    HasSubstr("loss 0.0001"), HasSubstr("accuracy 0.5")));
  EXPECT_LT(text.size(), 2000U);
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST_F(ProgressOnATerminal, C067_ATerminalGetsOneLineNeverWiderThanTheWindow) {
  const Terminal terminal(40);
  ProgressDisplay display(options(terminal.slave()));
  EXPECT_EQ(display.mode(), ProgressMode::Terminal);
  display.start(0, 1000);
  std::string wide;
  std::string narrow;
  for (std::int64_t step = 1; step <= 1000; ++step) {
    time_ += 0.01;
    display.set_metrics({{"loss", 0.123456789}, {"accuracy", 0.987654321}});
    display.update(step);
    if (step % 20 == 0) (step <= 500 ? wide : narrow) += terminal.text();
    if (step == 500) terminal.resize(20);
  }
  display.finish();
  narrow += terminal.text();
  EXPECT_EQ(std::count(wide.begin(), wide.end(), '\n'), 0) << "one line, rewritten";
  EXPECT_LT(widest_line(wide), 40U);
  EXPECT_GT(widest_line(wide), 20U);
  EXPECT_LT(widest_line(narrow), 20U);
  EXPECT_THAT(wide, AllOf(HasSubstr("\r"), HasSubstr("loss 0.1235"), HasSubstr("\x1b[32m")));
  EXPECT_TRUE(narrow.ends_with("\r\n")) << "the cursor is on a fresh line";
}

TEST_F(ProgressOnATerminal, C067_NoColourAndDumbTerminals) {
  {
    const ScopedVariable no_colour("NO_COLOR", "1");
    const Terminal terminal(80);
    ProgressDisplay display(options(terminal.slave()));
    run(display);
    EXPECT_THAT(terminal.text(),
                AllOf(Not(HasSubstr("\x1b[32m")), Not(HasSubstr("\x1b[0m")), HasSubstr("\r")));
  }
  {
    const ScopedVariable term("TERM", "dumb");
    const Terminal terminal(80);
    ProgressDisplay display(options(terminal.slave()));
    EXPECT_EQ(display.mode(), ProgressMode::Plain);
  }
  {
    const ScopedVariable ci("CI", "true");
    const Terminal terminal(80);
    EXPECT_EQ(ProgressDisplay(options(terminal.slave())).mode(), ProgressMode::Plain);
  }
}

TEST_F(ProgressOnATerminal, MessagesGoAboveTheLine) {
  const Terminal terminal(80);
  ProgressDisplay display(options(terminal.slave()));
  display.start(0, 10);
  display.print("warning: watch out");
  display.finish();
  EXPECT_THAT(terminal.text(), HasSubstr("\r\x1b[Kwarning: watch out\r\n"));
}

TEST_F(ProgressOnATerminal, WithoutATotalThereIsNoBarAndNoPercentage) {
  const Terminal terminal(80);
  ProgressDisplay display(options(terminal.slave()));
  display.start(0, 0);
  time_ += 1;
  display.update(7);
  display.finish();
  EXPECT_THAT(terminal.text(), AllOf(HasSubstr("7"), Not(HasSubstr("%")), Not(HasSubstr("eta"))));
}

TEST_F(ProgressOnATerminal, OffIsSilentAndAClosedPipeIsNoError) {
  const Terminal terminal(80);
  ProgressOptions off = options(terminal.slave());
  off.mode = ProgressMode::Off;
  ProgressDisplay silent(off);
  run(silent);
  silent.print("nothing");
  EXPECT_EQ(terminal.text(), "");
  ProgressDisplay closed(options(-1));
  run(closed);
}

}  // namespace
}  // namespace lockstep::testing
