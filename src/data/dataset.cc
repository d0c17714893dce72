#include "lockstep/data/dataset.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

constexpr std::string_view where = "Dataset";

void check_column(const std::string& name, const Column& column) {
  const HostTensor& values = column.values;
  if (values.shape().empty()) {
    throw_value_error(where, fmt::format("column '{}' is a scalar; expected one row for each "
                                         "example, shape (rows, ...)",
                                         name));
  }
  if (!values.is_owned()) {
    throw_value_error(where, fmt::format("column '{}' borrows its bytes, which might go before the "
                                         "data set; pass HostTensor::adopt with an owner, or a "
                                         "clone()",
                                         name));
  }
  if (column.unit_scale && values.dtype() != DType::UInt8) {
    throw_value_error(where, fmt::format("column '{}' is {} and cannot be scaled by 255; expected "
                                         "uint8",
                                         name, lockstep::to_string(values.dtype())));
  }
}

}  // namespace

Dataset::Dataset(std::map<std::string, Column> columns) : columns_(std::move(columns)) {
  if (columns_.empty()) throw_value_error(where, "there are no columns; expected at least one");
  std::string lengths;
  bool are_equal = true;
  num_rows_ = -1;
  for (auto& [name, column] : columns_) {
    check_column(name, column);
    column.values = column.values.contiguous();
    const std::int64_t length = column.values.shape()[0];
    if (num_rows_ < 0) num_rows_ = length;
    are_equal = are_equal && length == num_rows_;
    lengths += fmt::format("{}'{}' {}", lengths.empty() ? "" : ", ", name, length);
  }
  if (!are_equal) {
    throw_value_error(where,
                      fmt::format("the columns' numbers of rows differ: {}; expected one row "
                                  "for each example in every column",
                                  lengths));
  }
}

const Column& Dataset::column(std::string_view name) const {
  std::string names;
  for (const auto& [key, column] : columns_) {
    if (key == name) return column;
    names += (names.empty() ? "" : ", ") + key;
  }
  throw_value_error(where,
                    fmt::format("there is no column '{}'; the columns are: {}", name, names));
}

Dataset Dataset::rows(std::int64_t begin, std::int64_t end) const {
  if (begin < 0 || end < begin || end > num_rows_) {
    throw_value_error(where, fmt::format("there are no rows [{}, {}) in a data set of {} rows",
                                         begin, end, num_rows_));
  }
  std::map<std::string, Column> parts;
  for (const auto& [name, column] : columns_) {
    parts.emplace(name, Column(column.values.rows(begin, end), column.unit_scale));
  }
  return Dataset(std::move(parts));
}

std::string Dataset::to_string() const {
  std::string text = fmt::format("{} rows:", num_rows_);
  for (const auto& [name, column] : columns_) {
    const Shape& shape = column.values.shape();
    text += fmt::format("{} {} {} {}{}", text.ends_with(':') ? "" : ",", name,
                        lockstep::to_string(column.values.dtype()),
                        lockstep::to_string(Shape(shape.begin() + 1, shape.end())),
                        column.unit_scale ? " scaled to float32" : "");
  }
  return text;
}

}  // namespace lockstep::data
