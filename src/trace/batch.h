#pragma once
// The batching pass: a recorded function for a whole batch.
#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/trace/record.h"

namespace lockstep {

// What a recorded function gives for a batch.
struct BatchedOutputs {
  std::vector<Array> outputs;  // a batched one has the batch as its axis 0
  std::vector<bool> batched;
};

// Applies `function` to arguments of which some (`batched`) have a batch of `size` as axis 0.
BatchedOutputs evaluate_batch(const RecordedFunction& function, std::span<const Array> arguments,
                              const std::vector<bool>& batched, std::int64_t size);

}  // namespace lockstep
