#include "lockstep/train/csv_logger.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <string_view>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/base/number_text.h"
#include "train/clock.h"
#include "train/csv_text.h"
#include "train/output_file.h"

namespace lockstep {
namespace {

constexpr std::string_view where = "CsvLogger";
constexpr std::size_t most_waiting_rows = 4096;

void check_metric_name(const std::string& name) {
  const bool has_control = std::any_of(name.begin(), name.end(), [](char character) {
    return static_cast<unsigned char>(character) < 0x20 || character == 0x7f;
  });
  if (name.empty() || name == "step" || has_control) {
    throw_value_error(where, fmt::format("'{}' cannot be a metric's name; expected a name that is "
                                         "not empty, not 'step' and has no control characters",
                                         name));
  }
}

// The step of a row with `columns` cells, or nothing where the line is no such row.
std::optional<std::int64_t> step_of_row(std::string_view line, std::size_t columns) {
  const auto commas = static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
  if (commas + 1 != columns) return std::nullopt;
  return parse_integer(line.substr(0, line.find(',')));
}

std::ifstream open_for_reading(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw_runtime_error(where, fmt::format("cannot read '{}'", path.string()));
  return stream;
}

// Reads up to the line break; false where the file ends before one (the rest is in `line`).
bool read_whole_line(std::istream& stream, std::string& line) {
  return static_cast<bool>(std::getline(stream, line)) && !stream.eof();
}

}  // namespace

CsvLogger::CsvLogger(CsvLoggerOptions options) : options_(std::move(options)) {
  if (!options_.is_global_zero) return;
  file_ = std::make_unique<OutputFile>(std::string(where), options_.path,
                                       OutputFile::Open::OpenOrCreate);
  if (options_.resume_step) {
    continue_file(*options_.resume_step);
  } else if (const std::int64_t size = file_->size(); size > 0) {
    throw_value_error(where, fmt::format("'{}' already holds {} bytes; expected a new file. Give "
                                         "resume_step to continue it, or another path",
                                         options_.path.string(), size));
  }
}

CsvLogger::~CsvLogger() {
  try {
    finalize(RunStatus::Success);
  } catch (const std::exception& error) {
    log_error(error.what());
  }
}

void CsvLogger::log_hyperparameters(const Hyperparameters&) {}

void CsvLogger::log_metrics(std::int64_t step, const Metrics& metrics) {
  if (file_ == nullptr || metrics.empty()) return;
  add_columns(metrics);
  if (waiting_.empty() || waiting_.back().step != step) {
    const bool continues_last = waiting_.empty() && last_written_ && last_written_->step == step;
    waiting_.push_back(continues_last ? *last_written_ : Row{.step = step, .cells = {}});
  }
  Row& row = waiting_.back();
  row.cells.resize(columns_.size() - 1);
  for (const auto& [name, value] : metrics) {
    row.cells[cell_of_.find(name)->second] = number_text(value);
  }
  const bool is_due = monotonic_seconds() - last_write_time_ >= options_.flush_seconds;
  if (is_due || waiting_.size() >= most_waiting_rows) flush();
}

void CsvLogger::flush() {
  if (file_ == nullptr || waiting_.empty()) return;
  last_write_time_ = monotonic_seconds();
  const bool replaces_last = last_written_ && last_written_->step == waiting_.front().step;
  const std::int64_t begin = replaces_last ? last_row_begin_ : end_;
  std::string text = end_ == 0 ? header_text() : std::string();
  std::size_t last_row_offset = 0;
  for (const Row& row : waiting_) {
    last_row_offset = text.size();
    text += row_text(row);
  }
  try {
    file_->write_at(begin, text);
    const std::int64_t end = begin + static_cast<std::int64_t>(text.size());
    if (end < end_) file_->truncate(end);
    end_ = end;
  } catch (const RuntimeError&) {
    // Leave the file as it was, so that what is in it stays readable.
    if (replaces_last) file_->write_at(begin, row_text(*last_written_));
    file_->truncate(end_);
    throw;
  }
  last_row_begin_ = begin + static_cast<std::int64_t>(last_row_offset);
  last_written_ = std::move(waiting_.back());
  waiting_.clear();
}

void CsvLogger::finalize(RunStatus) {
  if (file_ == nullptr) return;
  flush();
  file_->synchronize();
  file_.reset();
}

std::string CsvLogger::header_text() const {
  std::string text;
  for (const std::string& column : columns_) text += (text.empty() ? "" : ",") + csv_field(column);
  return text + '\n';
}

std::string CsvLogger::row_text(const Row& row) const {
  std::string text = number_text(row.step);
  for (std::size_t cell = 0; cell + 1 < columns_.size(); ++cell) {
    text += ',';
    if (cell < row.cells.size()) text += row.cells[cell];
  }
  return text + '\n';
}

void CsvLogger::add_column(const std::string& name) {
  cell_of_.emplace(name, columns_.size() - 1);
  columns_.push_back(name);
}

void CsvLogger::add_columns(const Metrics& metrics) {
  const std::size_t before = columns_.size();
  for (const auto& [name, value] : metrics) {
    if (cell_of_.contains(name)) continue;
    check_metric_name(name);
    add_column(name);
  }
  if (columns_.size() == before || end_ == 0) return;
  try {
    rewrite_with_columns(columns_.size() - before);
  } catch (const RuntimeError&) {
    // The file has the old columns still.
    for (std::size_t index = before; index < columns_.size(); ++index) {
      cell_of_.erase(columns_[index]);
    }
    columns_.resize(before);
    throw;
  }
}

void CsvLogger::rewrite_with_columns(std::size_t new_columns) {
  std::filesystem::path temporary = options_.path;
  temporary += ".tmp";
  auto rewritten =
      std::make_unique<OutputFile>(std::string(where), temporary, OutputFile::Open::Truncate);
  std::ifstream stream = open_for_reading(options_.path);
  std::string line;
  read_whole_line(stream, line);  // the old header
  std::string text = header_text();
  std::int64_t written = 0;
  std::int64_t row_begin = 0;
  const std::string empty_cells(new_columns, ',');
  while (read_whole_line(stream, line)) {
    row_begin = written + static_cast<std::int64_t>(text.size());
    text.append(line).append(empty_cells).push_back('\n');
    if (text.size() < (std::size_t{1} << 20)) continue;
    rewritten->write_at(written, text);
    written += static_cast<std::int64_t>(text.size());
    text.clear();
  }
  if (stream.bad()) {
    throw_runtime_error(where, fmt::format("cannot read '{}'", options_.path.string()));
  }
  rewritten->write_at(written, text);
  rewritten->synchronize();
  rewritten->rename_to(options_.path);
  file_ = std::move(rewritten);
  end_ = written + static_cast<std::int64_t>(text.size());
  last_row_begin_ = row_begin;
}

void CsvLogger::read_header(const std::string& line) {
  std::string_view text = line;
  if (text.ends_with('\r')) text.remove_suffix(1);
  const std::vector<std::string> fields = split_csv_line(text);
  if (fields.front() != "step") {
    throw_value_error(where, fmt::format("'{}' is not a metrics file: its first line is '{:.80}'; "
                                         "expected a header that begins with 'step'. It was left "
                                         "as it is",
                                         options_.path.string(), text));
  }
  for (std::size_t index = 1; index < fields.size(); ++index) add_column(fields[index]);
}

void CsvLogger::continue_file(std::int64_t resume_step) {
  std::ifstream stream = open_for_reading(options_.path);
  std::string line;
  if (!read_whole_line(stream, line)) {
    // Empty, or cut inside the header: there are no rows to keep.
    if (!std::string_view("step").starts_with(line) && !line.starts_with("step,")) {
      read_header(line);
    }
    file_->truncate(0);
    return;
  }
  read_header(line);
  std::int64_t offset = static_cast<std::int64_t>(line.size()) + 1;
  end_ = offset;
  std::int64_t line_number = 1;
  std::optional<std::int64_t> broken_line;
  while (read_whole_line(stream, line)) {
    ++line_number;
    const std::optional<std::int64_t> step = step_of_row(line, columns_.size());
    if (step && broken_line) {
      throw_value_error(where, fmt::format("line {} of '{}' is not a row of {} cells that begins "
                                           "with a step, although rows follow; mend or move the "
                                           "file. It was left as it is",
                                           *broken_line, options_.path.string(), columns_.size()));
    }
    if (!step && !broken_line) broken_line = line_number;
    if (step && *step > resume_step) break;
    if (step) {
      std::vector<std::string> cells = split_csv_line(line);
      cells.erase(cells.begin());
      last_written_ = Row{.step = *step, .cells = std::move(cells)};
      last_row_begin_ = offset;
      end_ = offset + static_cast<std::int64_t>(line.size()) + 1;
    }
    offset += static_cast<std::int64_t>(line.size()) + 1;
  }
  file_->truncate(end_);
}

}  // namespace lockstep
