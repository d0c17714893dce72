#include "data/gather.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>

namespace lockstep::data {
namespace {

constexpr std::array<float, 256> unit_scaled = [] {
  std::array<float, 256> table{};
  for (std::size_t value = 0; value < table.size(); ++value) {
    table[value] = static_cast<float>(value) / 255.0F;
  }
  return table;
}();

void scale_row(const std::byte* source, std::size_t count, std::byte* destination) {
  for (std::size_t index = 0; index < count; ++index) {
    const float value = unit_scaled[std::to_integer<std::size_t>(source[index])];
    std::memcpy(destination + index * sizeof value, &value, sizeof value);
  }
}

}  // namespace

HostTensor gather_rows(const Column& column, std::span<const std::int64_t> rows, ThreadGang& gang) {
  const HostTensor& values = column.values;
  Shape shape = values.shape();
  shape[0] = static_cast<std::int64_t>(rows.size());
  HostTensor batch = HostTensor::empty(column.batch_dtype(), std::move(shape));
  if (batch.num_bytes() == 0) return batch;
  const std::size_t row_bytes = values.num_bytes() / static_cast<std::size_t>(values.shape()[0]);
  const std::size_t batch_row_bytes = batch.num_bytes() / rows.size();
  const std::byte* const source = values.data();
  std::byte* const destination = batch.mutable_bytes();

  const auto gather = [&](std::size_t begin, std::size_t end) {
    for (std::size_t index = begin; index < end; ++index) {
      const std::byte* const row = source + static_cast<std::size_t>(rows[index]) * row_bytes;
      std::byte* const place = destination + index * batch_row_bytes;
      if (column.unit_scale) {
        scale_row(row, row_bytes, place);
      } else {
        std::memcpy(place, row, row_bytes);
      }
    }
  };
  const std::int64_t most_parts =
      static_cast<std::int64_t>(batch.num_bytes()) / least_bytes_per_thread;
  const std::int64_t num_parts =
      std::min({gang.num_threads(), most_parts, static_cast<std::int64_t>(rows.size())});
  if (num_parts <= 1) {
    gather(0, rows.size());
    return batch;
  }
  const auto parts = static_cast<std::size_t>(num_parts);
  gang.run(num_parts, [&](std::int64_t part_number) {
    const auto part = static_cast<std::size_t>(part_number);
    gather(rows.size() * part / parts, rows.size() * (part + 1) / parts);
  });
  return batch;
}

std::int64_t batch_bytes(const Dataset& dataset, std::int64_t num_rows) {
  std::int64_t bytes = 0;
  for (const auto& [name, column] : dataset.columns()) {
    const Shape& shape = column.values.shape();
    const std::int64_t row_elements = num_elements(std::span(shape).subspan(1));
    bytes += num_rows * row_elements * static_cast<std::int64_t>(byte_size(column.batch_dtype()));
  }
  return bytes;
}

}  // namespace lockstep::data
