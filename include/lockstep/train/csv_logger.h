#pragma once
/// Metrics as one wide CSV file.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/train/logger.h"

namespace lockstep {

class OutputFile;

/// Where a CSV logger writes and what it continues.
struct CsvLoggerOptions {
  std::filesystem::path path;
  /// Continue the file: rows after this step are dropped (they belong to steps that will be run
  /// again), and so is a last line cut by a kill. Unset: a file that is already there is refused.
  std::optional<std::int64_t> resume_step;
  /// Rows wait at most until the first log call this many seconds after the last write.
  double flush_seconds = 0.1;
  /// Only global rank zero writes; elsewhere the logger does nothing and makes no file.
  bool is_global_zero = true;
};

/// One row a step, one column a metric: "step,loss,accuracy". Cells without a value are empty.
///
/// A metric that is new in mid-run becomes a further column: the file is rewritten once, to a
/// temporary file that then takes its name; otherwise a write costs the new rows only. Metrics of
/// one step share a row. Numbers are number_text: they read back exactly under every locale.
class CsvLogger final : public Logger {
 public:
  /// ValueError where the file exists and `resume_step` is unset, or where it is not such a file;
  /// RuntimeError with the path and the system's reason where it cannot be written.
  explicit CsvLogger(CsvLoggerOptions options);
  ~CsvLogger() override;  ///< Flushes; a failure is logged as an error.

  /// Does nothing: settings are in the run folder's configuration file.
  void log_hyperparameters(const Hyperparameters& hyperparameters) override;
  /// ValueError for a metric name with a control character, or named "step".
  void log_metrics(std::int64_t step, const Metrics& metrics) override;
  void flush() override;
  void finalize(RunStatus status) override;

  /// The columns so far, "step" first.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

 private:
  struct Row {
    std::int64_t step = 0;
    std::vector<std::string> cells;  // one for each column after "step"
  };

  [[nodiscard]] std::string row_text(const Row& row) const;
  [[nodiscard]] std::string header_text() const;
  void continue_file(std::int64_t resume_step);
  void read_header(const std::string& line);
  void add_columns(const Metrics& metrics);
  void add_column(const std::string& name);
  void rewrite_with_columns(std::size_t new_columns);

  CsvLoggerOptions options_;
  std::unique_ptr<OutputFile> file_;  // null: rank other than zero, or finalized
  std::vector<std::string> columns_{"step"};
  std::map<std::string, std::size_t, std::less<>> cell_of_;  // column name -> index into Row::cells
  std::vector<Row> waiting_;         // not written; the first may be a fuller form of last_written_
  std::optional<Row> last_written_;  // last row of the file
  std::int64_t last_row_begin_ = 0;  // its offset
  std::int64_t end_ = 0;             // of what is written whole
  double last_write_time_ = 0;
};

}  // namespace lockstep
