#include "lockstep/data/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "data/state_tree.h"
#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

constexpr std::string_view where = "Sampler";
constexpr std::int64_t end_of_epochs = std::int64_t{1} << 32;  // fold_in takes 32 bits

void check_key(std::string_view place, const Array& key) {
  if (!key.is_null() && key.dtype() == DType::UInt32 && key.shape() == Shape{2}) return;
  throw_value_error(place, fmt::format("the key is {}; expected uint32[2], e.g. sampler_key(seed)",
                                       key.is_null() ? "null" : to_string(key.abstract_value())));
}

}  // namespace

Tree to_tree(const SamplerState& state) {
  return Tree{{"epoch", Array(HostTensor::scalar(state.epoch))},
              {"key", state.key},
              {"position", Array(HostTensor::scalar(state.position))}};
}

SamplerState sampler_state_from_tree(const Tree& tree) {
  SamplerState state;
  state.epoch = state_counter(where, tree, "epoch");
  state.position = state_counter(where, tree, "position");
  state.key = state_entry(where, tree, "key");
  check_key(where, state.key);
  return state;
}

Array sampler_key(std::uint64_t seed) {
  const std::vector<std::uint32_t> words{static_cast<std::uint32_t>(seed >> 32U),
                                         static_cast<std::uint32_t>(seed)};
  return HostTensor::from(words, {2});
}

std::vector<std::int64_t> permutation_of(const std::vector<std::uint32_t>& bits) {
  // Radix sort from the lowest digit: stable, and a few passes over memory.
  constexpr unsigned digit_bits = 11;
  constexpr std::size_t num_digits = std::size_t{1} << digit_bits;
  std::vector<std::int64_t> order(bits.size());
  std::vector<std::int64_t> sorted(bits.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::vector<std::size_t> place(num_digits);
  for (unsigned shift = 0; shift < 32; shift += digit_bits) {
    const auto digit = [&](std::int64_t row) {
      return (bits[static_cast<std::size_t>(row)] >> shift) & (num_digits - 1);
    };
    std::fill(place.begin(), place.end(), std::size_t{0});
    for (const std::int64_t row : order) ++place[digit(row)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
    for (const std::int64_t row : order) sorted[place[digit(row)]++] = row;
    order.swap(sorted);
  }
  return order;
}

Sampler::Sampler(std::int64_t num_rows, SamplerOptions options, SamplerState state)
    : num_rows_(num_rows), options_(std::move(options)), state_(std::move(state)) {
  const std::int64_t batch_size = options_.batch_size;
  if (batch_size <= 0) {
    throw_value_error(
        where, fmt::format("batch_size is {}; expected a positive number of rows", batch_size));
  }
  if (batches_per_epoch() == 0) {
    throw_value_error(
        where, fmt::format("{} row(s) with batch_size {}{} make 0 batches; {}", num_rows,
                           batch_size, options_.drop_last ? " and drop_last" : "",
                           num_rows == 0 ? "there is nothing to train on"
                                         : "use a smaller batch_size, or drop_last = false for one "
                                           "short batch"));
  }
  if (options_.shuffle) check_key(where, state_.key);
  if (state_.epoch < 0 || state_.epoch >= end_of_epochs || state_.position < 0 ||
      state_.position > num_rows) {
    throw_value_error(where, fmt::format("the state is at epoch {}, position {}; expected an epoch "
                                         "of [0, 2^32) and a position of [0, {}], the number of "
                                         "rows: is it of another data set?",
                                         state_.epoch, state_.position, num_rows));
  }
}

std::int64_t Sampler::batches_per_epoch() const {
  const std::int64_t full = num_rows_ / options_.batch_size;
  const bool has_short = !options_.drop_last && num_rows_ % options_.batch_size != 0;
  return full + (has_short ? 1 : 0);
}

std::vector<std::int64_t> Sampler::next() {
  const std::int64_t left = num_rows_ - state_.position;
  const std::int64_t count = std::min(options_.batch_size, left);
  if (count == 0 || (options_.drop_last && count < options_.batch_size)) {
    state_.epoch = (state_.epoch + 1) % end_of_epochs;
    state_.position = 0;
    return {};
  }
  if (options_.shuffle && order_epoch_ != state_.epoch) {
    order_ = permutation_of(options_.epoch_bits(state_.key, state_.epoch, num_rows_));
    order_epoch_ = state_.epoch;
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  if (options_.shuffle) {
    std::copy_n(order_.begin() + state_.position, count, rows.begin());
  } else {
    std::iota(rows.begin(), rows.end(), state_.position);
  }
  state_.position += count;
  return rows;
}

}  // namespace lockstep::data
