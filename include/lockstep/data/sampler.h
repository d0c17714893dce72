#pragma once
/// Samplers: which rows make which batch.
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep::data {

/// The whole state of a sampler.
struct SamplerState {
  Array key;                  ///< uint32 of shape (2,): the random key of the shuffle
  std::int64_t epoch = 0;     ///< passes before this one, below 2^32
  std::int64_t position = 0;  ///< rows of this pass that have been handed out
};

/// The state as a tree: {"epoch": int64, "key": uint32[2], "position": int64}.
[[nodiscard]] Tree to_tree(const SamplerState& state);
/// ValueError naming the entry where the tree is no such state.
[[nodiscard]] SamplerState sampler_state_from_tree(const Tree& tree);

/// JAX's key of a seed, in host memory: its high and its low 32 bits.
[[nodiscard]] Array sampler_key(std::uint64_t seed);

/// `count` random numbers that depend on key and epoch only.
using EpochBits = std::function<std::vector<std::uint32_t>(const Array& key, std::int64_t epoch,
                                                           std::int64_t count)>;

/// random::bits(random::fold_in(key, epoch), {count}), computed on the device where the key lives.
[[nodiscard]] std::vector<std::uint32_t> threefry_epoch_bits(const Array& key, std::int64_t epoch,
                                                             std::int64_t count);

/// The order of the rows in an epoch: the row numbers sorted by `bits`, equal bits by row.
[[nodiscard]] std::vector<std::int64_t> permutation_of(const std::vector<std::uint32_t>& bits);

/// What a sampler does.
struct SamplerOptions {
  std::int64_t batch_size = 0;  ///< rows of a global batch; positive
  /// A new order for every epoch; else rows come as they are stored.
  bool shuffle = true;
  /// Leave out the rows at an epoch's end that do not fill a batch; else they make a short one.
  bool drop_last = true;
  EpochBits epoch_bits = threefry_epoch_bits;
};

/// Hands out the rows of a data set in batches, epoch after epoch. What comes next is a pure
/// function of its state: a sampler that is given the state of another goes on exactly as that one.
class Sampler {
 public:
  /// ValueError, naming rows and batch size, where an epoch would have no batch, the batch size is
  /// not positive, or the state's position lies outside of an epoch.
  Sampler(std::int64_t num_rows, SamplerOptions options, SamplerState state);

  /// The rows of the next batch; empty at the end of an epoch, and the call after that begins the
  /// next one.
  [[nodiscard]] std::vector<std::int64_t> next();

  [[nodiscard]] std::int64_t batches_per_epoch() const;
  [[nodiscard]] const SamplerOptions& options() const { return options_; }
  /// After the batch handed out last.
  [[nodiscard]] const SamplerState& state() const { return state_; }

 private:
  std::int64_t num_rows_;
  SamplerOptions options_;
  SamplerState state_;
  std::vector<std::int64_t> order_;  // of order_epoch_; empty for stored order
  std::optional<std::int64_t> order_epoch_;
};

}  // namespace lockstep::data
