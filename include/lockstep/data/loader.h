#pragma once
/// BatchLoader: batches of a data set, gathered ahead of their use.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "lockstep/data/data_source.h"
#include "lockstep/data/dataset.h"
#include "lockstep/data/sampler.h"

namespace lockstep::data {

/// How a BatchLoader samples and gathers.
struct LoaderOptions {
  std::int64_t batch_size = 0;  ///< rows of a global batch; positive
  bool shuffle = true;          ///< a new order for every epoch
  bool drop_last = true;        ///< leave a short last batch out
  std::uint64_t seed = 0;       ///< of the shuffle's key
  /// Batches that may wait, gathered on a thread of their own; 0 gathers inside next().
  std::int64_t prefetch = 2;
  /// Threads that gather one batch; 0 chooses by the batch's bytes and the machine's cores.
  std::int64_t num_threads = 0;
  /// Changes every batch, on the gathering thread: augmentation, casts, further columns.
  std::function<Tree(Tree)> transform = {};
  EpochBits epoch_bits = threefry_epoch_bits;
};

/// Batches of a Dataset as dict trees of host arrays, in owned, aligned, row-major memory, which
/// CPU devices use without a copy. A batch's memory is used again only after every array made of it
/// is gone. Errors of the gathering thread are thrown by next(), at the batch they belong to; the
/// call after that tries the same batch again.
class BatchLoader final : public DataSource {
 public:
  /// ValueError as Sampler's, and for a negative prefetch or num_threads. RuntimeError where the
  /// system gives no such number of threads.
  BatchLoader(Dataset dataset, LoaderOptions options);
  ~BatchLoader() override;  ///< Ends the thread, after the batch that it is gathering.

  /// Puts the sampler's key on the root device. ValueError, naming rows and devices, where the
  /// batches (a short last one included) cannot be split evenly over the strategy's devices.
  void prepare(const Strategy& strategy) override;
  [[nodiscard]] std::optional<Batch> next() override;
  void skip_to_next_epoch() override;
  [[nodiscard]] std::optional<std::int64_t> batches_per_epoch() const override;
  [[nodiscard]] Cursor cursor() const override { return cursor_; }
  /// The SamplerState as a tree: "epoch", "key", "position".
  [[nodiscard]] Tree state_at(const Cursor& cursor) const override;
  void restore(const Tree& state) override;

  [[nodiscard]] const Dataset& dataset() const;

 private:
  class Producer;
  class Prefetcher;
  void go_to(SamplerState state);

  std::unique_ptr<Producer> producer_;      // makes batches, on the prefetcher's thread if any
  std::unique_ptr<Prefetcher> prefetcher_;  // started by next()
  LoaderOptions options_;
  Array key_;
  Cursor cursor_;
};

}  // namespace lockstep::data
