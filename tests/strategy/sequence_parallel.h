#pragma once
#include <string>
#include <utility>
#include <vector>

#include "lockstep/strategy/strategy.h"

namespace lockstep {

/// States replicated, batches split along their second dimension: for few but long sequences.
class SequenceParallelStrategy final : public Strategy {
 public:
  explicit SequenceParallelStrategy(std::vector<Device> devices)
      : Strategy(std::move(devices)),
        mesh_(this->devices(), "sequence"),
        replicated_(NamedSharding{mesh_, {}}),
        split_(NamedSharding{mesh_, {{}, {"sequence"}}}) {}

  [[nodiscard]] Sharding state_sharding() const override { return replicated_; }
  [[nodiscard]] Sharding batch_sharding(std::int64_t ndim) const override {
    return ndim < 2 ? replicated_ : split_;
  }
  [[nodiscard]] Tree place_state(const Tree& state) const override {
    return device_put(state, replicated_);
  }
  [[nodiscard]] Tree place_batch(const Tree& batch) const override {
    return device_put(batch, [this](const Array& leaf) { return batch_sharding(leaf.ndim()); });
  }
  [[nodiscard]] std::string to_string() const override {
    return "SequenceParallelStrategy(" + mesh_.to_string() + ")";
  }

 private:
  Mesh mesh_;
  Sharding replicated_;
  Sharding split_;
};

}  // namespace lockstep
