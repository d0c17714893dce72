#include "lockstep/data/data_source.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "data/state_tree.h"
#include "lockstep/base/error.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep::data {
namespace {

constexpr std::string_view where = "FunctionSource";

}  // namespace

FunctionSource::FunctionSource(std::function<Tree(std::int64_t)> function,
                               std::optional<std::int64_t> batches_per_epoch)
    : function_(std::move(function)), batches_per_epoch_(batches_per_epoch) {
  if (!function_)
    throw_value_error(where, "the function is empty; expected one that makes batches");
  if (batches_per_epoch_ && *batches_per_epoch_ <= 0) {
    throw_value_error(where, fmt::format("batches_per_epoch is {}; expected a positive number, or "
                                         "none for an endless epoch",
                                         *batches_per_epoch_));
  }
}

std::optional<Batch> FunctionSource::next() {
  if (cursor_.position == batches_per_epoch_.value_or(std::numeric_limits<std::int64_t>::max())) {
    skip_to_next_epoch();
    return std::nullopt;
  }
  Batch batch;
  batch.data = function_(cursor_.epoch * batches_per_epoch_.value_or(0) + cursor_.position);
  batch.num_rows = num_rows(batch.data);
  ++cursor_.position;
  batch.cursor = cursor_;
  return batch;
}

void FunctionSource::skip_to_next_epoch() {
  if (!batches_per_epoch_) {
    throw_value_error(where,
                      "there is no next epoch: this source has one endless epoch; give "
                      "batches_per_epoch");
  }
  if (cursor_.position > 0) cursor_ = {.epoch = cursor_.epoch + 1, .position = 0};
}

Tree FunctionSource::state_at(const Cursor& cursor) const {
  return Tree{{"epoch", Array(HostTensor::scalar(cursor.epoch))},
              {"position", Array(HostTensor::scalar(cursor.position))}};
}

void FunctionSource::restore(const Tree& state) {
  const Cursor cursor{.epoch = state_counter(where, state, "epoch"),
                      .position = state_counter(where, state, "position")};
  const bool fits = batches_per_epoch_ ? cursor.position <= *batches_per_epoch_ : cursor.epoch == 0;
  if (!fits) {
    throw_value_error(where, fmt::format("the state is at epoch {}, batch {}, but an epoch has {} "
                                         "batches: is it of another source?",
                                         cursor.epoch, cursor.position,
                                         batches_per_epoch_ ? fmt::format("{}", *batches_per_epoch_)
                                                            : "endlessly many"));
  }
  cursor_ = cursor;
}

std::int64_t num_rows(const Tree& batch) {
  std::optional<std::int64_t> rows;
  for_each_leaf(batch, [&](const KeyPath&, const Array& leaf) {
    if (!rows && !leaf.shape().empty()) rows = leaf.shape().front();
  });
  return rows.value_or(1);
}

}  // namespace lockstep::data
