#pragma once
/// What a person sees of a running job, on standard error.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lockstep/train/logger.h"

namespace lockstep {

/// How progress is shown.
enum class ProgressMode {
  Auto,      ///< Terminal on a terminal that can move its cursor, else Plain
  Terminal,  ///< one line, rewritten
  Plain,     ///< whole lines now and then, without escape codes
  Off,       ///< nothing
};

/// Settings of a ProgressDisplay.
struct ProgressOptions {
  ProgressMode mode = ProgressMode::Auto;
  std::string label = "training";
  int file_descriptor = 2;  ///< standard error
  /// Seconds between updates; 0 chooses 0.1 on a terminal, 5 in a pipe or file, 30 where CI is set.
  double interval_seconds = 0;
  /// A monotonic clock in seconds; unset: the system's.
  std::function<double()> clock;
};

/// Shows step, rate, time left and the latest metrics. Every write is one whole line or one
/// rewriting of it; on a terminal the line is never wider than the window, which is measured at
/// every drawing. NO_COLOR (not empty) or TERM=dumb turn colours off, TERM=dumb and a set CI the
/// rewriting too. Errors of writing are ignored: a run does not end for its progress.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(ProgressOptions options = {});
  ~ProgressDisplay();  ///< Leaves the cursor on a fresh line.
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// Begins at `first_step` of `total_steps` (0: not known).
  void start(std::int64_t first_step, std::int64_t total_steps);
  /// `step` steps are done. Cheap: mostly a comparison; the clock is read every few calls only, and
  /// a line is drawn when its interval has passed.
  void update(std::int64_t step) {
    step_ = step;
    if (--calls_until_clock_ > 0) return;
    consider_drawing();
  }
  /// The latest metrics, shown from the next drawing on, in the order loss first, then by name.
  void set_metrics(const Metrics& metrics);
  /// As set_metrics for validation, kept beside the training metrics.
  void set_validation_metrics(const Metrics& metrics);
  /// Writes a message on a line of its own, above the progress line; Off writes none.
  void print(std::string_view message);
  /// Draws the last state and ends the line. Later calls do nothing until start().
  void finish();

  /// The mode chosen for Auto.
  [[nodiscard]] ProgressMode mode() const { return mode_; }

 private:
  void consider_drawing();
  void draw(double time);
  [[nodiscard]] double now() const;
  [[nodiscard]] std::string terminal_line(std::size_t columns) const;
  [[nodiscard]] std::string plain_line() const;
  [[nodiscard]] std::string count_text() const;
  [[nodiscard]] std::string percent_text() const;
  [[nodiscard]] std::string time_left_text() const;

  ProgressOptions options_;
  ProgressMode mode_ = ProgressMode::Off;
  bool has_colour_ = false;
  bool has_utf8_ = false;
  bool is_running_ = false;
  bool is_line_open_ = false;
  std::int64_t step_ = 0;
  std::int64_t first_step_ = 0;
  std::int64_t total_steps_ = 0;
  std::int64_t calls_until_clock_ = 1;
  std::int64_t calls_between_clocks_ = 1;
  double time_at_clock_ = 0;
  double start_time_ = 0;
  double next_draw_ = 0;
  double rate_ = 0;  // steps per second, smoothed over drawings
  std::int64_t step_at_draw_ = 0;
  double time_at_draw_ = 0;
  Metrics metrics_;
  Metrics validation_metrics_;
};

/// Ends a progress line that is open on a terminal, so that what follows begins on a fresh line.
/// Async-signal-safe: for handlers of signals that end the process. Runs at exit() by itself.
void end_open_progress_line() noexcept;

}  // namespace lockstep
