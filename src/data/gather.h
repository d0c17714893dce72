#pragma once
/// Gathering the rows of a batch.
#include <cstdint>
#include <span>

#include "data/thread_gang.h"
#include "lockstep/data/dataset.h"

namespace lockstep::data {

/// Rows `rows` of `column` in new memory, converted if the column asks for it; in parallel where
/// there are bytes enough for it to pay.
[[nodiscard]] HostTensor gather_rows(const Column& column, std::span<const std::int64_t> rows,
                                     ThreadGang& gang);

/// Bytes of a batch of `num_rows` rows, over all columns.
[[nodiscard]] std::int64_t batch_bytes(const Dataset& dataset, std::int64_t num_rows);

/// Bytes that one thread should have at least: below, waking it costs more than it gains.
inline constexpr std::int64_t least_bytes_per_thread = std::int64_t{1} << 20;

}  // namespace lockstep::data
