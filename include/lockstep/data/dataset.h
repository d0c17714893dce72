#pragma once
/// Data sets in host memory: named columns with one row for each example.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "lockstep/array/host_tensor.h"

namespace lockstep::data {

/// One column of a data set.
struct Column {
  Column(HostTensor column_values, bool scale = false)  // NOLINT: a tensor is a column as it is
      : values(std::move(column_values)), unit_scale(scale) {}

  HostTensor values;
  /// uint8 only: batches get float32(x) / float32(255), so that an image takes a quarter of the
  /// memory until it is used.
  bool unit_scale = false;

  /// Element type of a batch of this column.
  [[nodiscard]] DType batch_dtype() const { return unit_scale ? DType::Float32 : values.dtype(); }
};

/// Examples as columns of equal length: `Dataset({{"image", images}, {"label", labels}})`.
/// A cheap value: copies and rows() share the elements.
class Dataset {
 public:
  /// ValueError where there is no column, a column is a scalar or lengths differ (naming them all),
  /// a column borrows its bytes (they might go first), or unit_scale is set on another type than
  /// uint8.
  explicit Dataset(std::map<std::string, Column> columns);

  [[nodiscard]] std::int64_t num_rows() const { return num_rows_; }
  [[nodiscard]] const std::map<std::string, Column>& columns() const { return columns_; }
  /// ValueError listing the columns where there is none of this name.
  [[nodiscard]] const Column& column(std::string_view name) const;

  /// Rows [begin, end), e.g. to hold some back for validation; ValueError where there are none
  /// such.
  [[nodiscard]] Dataset rows(std::int64_t begin, std::int64_t end) const;

  /// "60000 rows: image uint8 (784,) scaled to float32, label int32 ()".
  [[nodiscard]] std::string to_string() const;

 private:
  std::map<std::string, Column> columns_;  // row-major, owned
  std::int64_t num_rows_ = 0;
};

}  // namespace lockstep::data
