#pragma once
/// Where a Trainer gets its batches.
#include <cstdint>
#include <functional>
#include <optional>

#include "lockstep/array/array.h"
#include "lockstep/strategy/strategy.h"

namespace lockstep::data {

/// How far a source has come.
struct Cursor {
  std::int64_t epoch = 0;
  /// Within the epoch: rows handed out (a loader) or batches (a function).
  std::int64_t position = 0;
  [[nodiscard]] bool operator==(const Cursor&) const = default;
};

/// One global batch.
struct Batch {
  Tree data;
  std::int64_t num_rows = 0;  ///< its examples: the weight in an epoch's means
  Cursor cursor;              ///< where the source stands after this batch
};

/// A sequence of batches in epochs. Used from one thread.
class DataSource {
 public:
  virtual ~DataSource() = default;

  /// Called once before the first batch, before anything is compiled: checks what can be checked
  /// against the strategy and puts sampler keys on its root device.
  virtual void prepare(const Strategy& strategy) { static_cast<void>(strategy); }

  /// The next batch, or nothing at the end of an epoch; the call after that begins the next epoch.
  [[nodiscard]] virtual std::optional<Batch> next() = 0;
  /// Leaves out what is left of this epoch. Does nothing where next() has just returned nothing.
  virtual void skip_to_next_epoch() = 0;

  /// Batches in one epoch; nothing where it has no end.
  [[nodiscard]] virtual std::optional<std::int64_t> batches_per_epoch() const = 0;

  /// Where it stands after the batch handed out last.
  [[nodiscard]] virtual Cursor cursor() const = 0;
  /// All that restore needs to go on at `cursor`: scalars "epoch" and "position" (int64), and what
  /// else the source depends on.
  [[nodiscard]] virtual Tree state_at(const Cursor& cursor) const = 0;
  [[nodiscard]] Tree state() const { return state_at(cursor()); }
  /// Goes on where the state was taken, with the same batches. ValueError for another structure or
  /// values that cannot be.
  virtual void restore(const Tree& state) = 0;

 protected:
  DataSource() = default;
  DataSource(const DataSource&) = default;
  DataSource& operator=(const DataSource&) = default;
};

/// Batches computed from their number, so that a resumed run gets the same ones.
class FunctionSource final : public DataSource {
 public:
  /// `function(index)` makes the batch number `index`, counted from 0 over all epochs.
  /// `batches_per_epoch`: unset for one endless epoch; ValueError where it is not positive.
  explicit FunctionSource(std::function<Tree(std::int64_t index)> function,
                          std::optional<std::int64_t> batches_per_epoch = {});

  [[nodiscard]] std::optional<Batch> next() override;
  void skip_to_next_epoch() override;
  [[nodiscard]] std::optional<std::int64_t> batches_per_epoch() const override {
    return batches_per_epoch_;
  }
  [[nodiscard]] Cursor cursor() const override { return cursor_; }
  [[nodiscard]] Tree state_at(const Cursor& cursor) const override;
  void restore(const Tree& state) override;

 private:
  std::function<Tree(std::int64_t)> function_;
  std::optional<std::int64_t> batches_per_epoch_;
  Cursor cursor_;
};

/// The number of rows of a batch: the leading dimension of its first leaf that is no scalar; 1
/// where there is none.
[[nodiscard]] std::int64_t num_rows(const Tree& batch);

}  // namespace lockstep::data
