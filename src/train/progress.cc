#include "lockstep/train/progress.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "lockstep/base/number_text.h"
#include "train/clock.h"
#include "train/terminal.h"
#include "train/text_width.h"

namespace lockstep {
namespace {

constexpr double seconds_between_clocks = 0.002;
constexpr std::int64_t most_calls_between_clocks = 1024;

// The terminal is the process's, not an object's: what exit() and signal handlers have to tidy.
std::atomic<int> open_line_descriptor{-1};
std::atomic<pid_t> open_line_process{0};

void mark_line_open(int file_descriptor) {
  static const int registered = std::atexit([] { end_open_progress_line(); });
  static_cast<void>(registered);
  open_line_process = ::getpid();
  open_line_descriptor = file_descriptor;
}

std::string metric_text(const std::string& name, double value) {
  return name + ' ' + short_number_text(value);
}

// Loss first, then by name.
std::vector<std::string> metric_texts(const Metrics& metrics) {
  std::vector<std::string> texts;
  if (const auto loss = metrics.find("loss"); loss != metrics.end()) {
    texts.push_back(metric_text(loss->first, loss->second));
  }
  for (const auto& [name, value] : metrics) {
    if (name != "loss") texts.push_back(metric_text(name, value));
  }
  return texts;
}

std::string bar_text(double fraction, std::size_t width, bool has_utf8, bool has_colour) {
  const auto filled = static_cast<std::size_t>(
      std::lround(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width)));
  const std::string_view full_cell = has_utf8 ? "\u2501" : "=";
  const std::string_view empty_cell = has_utf8 ? (has_colour ? "\u2501" : "\u2500") : "-";
  std::string text = has_colour ? "\x1b[32m" : "";
  for (std::size_t cell = 0; cell < width; ++cell) {
    if (cell == filled && has_colour) text += "\x1b[0m\x1b[2m";
    text += cell < filled ? full_cell : empty_cell;
  }
  return has_colour ? text + "\x1b[0m" : text;
}

ProgressMode chosen_mode(const ProgressOptions& options) {
  if (options.mode != ProgressMode::Auto) return options.mode;
  const bool is_terminal =
      is_capable_terminal(options.file_descriptor) && !is_continuous_integration();
  return is_terminal ? ProgressMode::Terminal : ProgressMode::Plain;
}

double chosen_interval(const ProgressOptions& options, ProgressMode mode) {
  if (options.interval_seconds > 0) return options.interval_seconds;
  if (mode == ProgressMode::Terminal) return 0.1;
  return is_continuous_integration() ? 30 : 5;
}

}  // namespace

void end_open_progress_line() noexcept {
  const int descriptor = open_line_descriptor.exchange(-1);
  // A forked child has no line of its own.
  if (descriptor < 0 || open_line_process != ::getpid()) return;
  write_ignoring_errors(descriptor, "\n");
}

ProgressDisplay::ProgressDisplay(ProgressOptions options)
    : options_(std::move(options)), mode_(chosen_mode(options_)) {
  options_.interval_seconds = chosen_interval(options_, mode_);
  has_colour_ = mode_ == ProgressMode::Terminal && colours_are_wanted();
  has_utf8_ = locale_is_utf8();
}

ProgressDisplay::~ProgressDisplay() {
  finish();
}

double ProgressDisplay::now() const {
  if (options_.clock) return options_.clock();
  return monotonic_seconds();
}

void ProgressDisplay::start(std::int64_t first_step, std::int64_t total_steps) {
  finish();
  step_ = first_step_ = step_at_draw_ = first_step;
  total_steps_ = total_steps;
  start_time_ = time_at_clock_ = time_at_draw_ = now();
  calls_until_clock_ = calls_between_clocks_ = 1;
  rate_ = 0;
  metrics_.clear();
  validation_metrics_.clear();
  is_running_ = mode_ != ProgressMode::Off;
  next_draw_ = start_time_ + options_.interval_seconds;
  if (mode_ == ProgressMode::Terminal) draw(start_time_);
}

void ProgressDisplay::consider_drawing() {
  if (!is_running_) {
    calls_until_clock_ = most_calls_between_clocks;
    return;
  }
  const double time = now();
  const double elapsed = time - time_at_clock_;
  // Aim at one look at the clock in seconds_between_clocks; grow slowly, shrink at once.
  const double wanted =
      static_cast<double>(calls_between_clocks_) * seconds_between_clocks / std::max(elapsed, 1e-9);
  const auto most = std::min(2 * calls_between_clocks_, most_calls_between_clocks);
  calls_between_clocks_ = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::min(wanted, static_cast<double>(most))), 1, most);
  calls_until_clock_ = calls_between_clocks_;
  time_at_clock_ = time;
  if (time >= next_draw_) draw(time);
}

void ProgressDisplay::set_metrics(const Metrics& metrics) {
  if (is_running_) metrics_ = metrics;
}

void ProgressDisplay::set_validation_metrics(const Metrics& metrics) {
  if (is_running_) validation_metrics_ = metrics;
}

void ProgressDisplay::draw(double time) {
  const double elapsed = time - time_at_draw_;
  if (elapsed > 0 && step_ > step_at_draw_) {
    const double rate = static_cast<double>(step_ - step_at_draw_) / elapsed;
    rate_ = rate_ == 0 ? rate : 0.7 * rate_ + 0.3 * rate;
    step_at_draw_ = step_;
    time_at_draw_ = time;
  }
  next_draw_ = time + options_.interval_seconds;
  if (mode_ == ProgressMode::Terminal) {
    const std::size_t columns = terminal_columns(options_.file_descriptor);
    write_ignoring_errors(options_.file_descriptor, '\r' + terminal_line(columns) + "\x1b[K");
    is_line_open_ = true;
    mark_line_open(options_.file_descriptor);
  } else {
    write_ignoring_errors(options_.file_descriptor, plain_line() + '\n');
  }
}

void ProgressDisplay::print(std::string_view message) {
  if (mode_ == ProgressMode::Off) return;
  const std::string line = std::string(message) + '\n';
  write_ignoring_errors(options_.file_descriptor, is_line_open_ ? "\r\x1b[K" + line : line);
  if (is_line_open_) draw(now());
}

void ProgressDisplay::finish() {
  if (!is_running_) return;
  const double time = now();
  const double elapsed = time - start_time_;
  // The last line tells the rate of the whole.
  step_at_draw_ = step_;
  if (elapsed > 0) rate_ = static_cast<double>(step_ - first_step_) / elapsed;
  draw(time);
  if (is_line_open_) end_open_progress_line();
  is_line_open_ = false;
  is_running_ = false;
}

std::string ProgressDisplay::count_text() const {
  if (total_steps_ <= 0) return number_text(step_);
  return number_text(step_) + '/' + number_text(total_steps_);
}

std::string ProgressDisplay::percent_text() const {
  // Rounded down, so that 100 % means done.
  const double fraction = static_cast<double>(step_) / static_cast<double>(total_steps_);
  return number_text(static_cast<std::int64_t>(100 * std::clamp(fraction, 0.0, 1.0))) + '%';
}

std::string ProgressDisplay::time_left_text() const {
  if (total_steps_ <= 0 || rate_ <= 0 || step_ >= total_steps_) return "";
  const double seconds = static_cast<double>(total_steps_ - step_) / rate_;
  return "eta " + duration_text(seconds < 60 ? std::ceil(seconds) : seconds);
}

std::string ProgressDisplay::plain_line() const {
  std::string line = options_.label + ' ' + count_text();
  if (total_steps_ > 0) line += " (" + percent_text() + ')';
  if (rate_ > 0) line += "  " + short_number_text(rate_, 3) + " steps/s";
  if (const std::string left = time_left_text(); !left.empty()) line += "  " + left;
  for (const std::string& text : metric_texts(metrics_)) line += "  " + text;
  for (const std::string& text : metric_texts(validation_metrics_)) line += "  " + text;
  return line;
}

std::string ProgressDisplay::terminal_line(std::size_t columns) const {
  // The last column stays free: writing there makes some terminals wrap.
  const std::size_t width = columns > 1 ? columns - 1 : 1;
  const std::string count = count_text();
  if (text_width(count) >= width) return std::string(fit_text(count, width));

  constexpr std::size_t gap = 2;
  std::size_t used = text_width(count);
  const auto take = [&](std::string text) -> std::string {
    const std::size_t needed = text_width(text) + gap;
    if (text.empty() || used + needed > width) return "";
    used += needed;
    return text;
  };
  // What matters most takes its place first.
  const bool has_total = total_steps_ > 0;
  const std::string percent = take(has_total ? percent_text() : "");
  std::vector<std::string> metrics = metric_texts(metrics_);
  if (!metrics.empty()) metrics.front() = take(metrics.front());
  const std::string left = take(time_left_text());
  constexpr std::size_t least_bar = 10;
  const bool has_bar = has_total && used + least_bar + gap <= width;
  if (has_bar) used += least_bar + gap;
  const std::string rate = take(rate_ > 0 ? short_number_text(rate_, 3) + " steps/s" : "");
  const std::string label = take(options_.label);
  for (std::size_t index = 1; index < metrics.size(); ++index)
    metrics[index] = take(metrics[index]);
  for (std::string& text : metric_texts(validation_metrics_)) metrics.push_back(take(text));
  constexpr std::size_t most_bar = 30;
  const std::size_t bar_width = has_bar ? std::min(most_bar, least_bar + (width - used)) : 0;

  std::string line;
  const auto append = [&line](const std::string& text) {
    if (text.empty()) return;
    if (!line.empty()) line.append(gap, ' ');
    line += text;
  };
  append(label);
  if (has_bar) {
    const double fraction = static_cast<double>(step_) / static_cast<double>(total_steps_);
    append(bar_text(fraction, bar_width, has_utf8_, has_colour_));
  }
  append(percent);
  append(count);
  append(rate);
  append(left);
  for (const std::string& text : metrics) append(text);
  return line;
}

}  // namespace lockstep
