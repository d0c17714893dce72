#pragma once
// The scan primitive: a loop of known length over stacked inputs.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lockstep/trace/record.h"

namespace lockstep {

struct ScanLoop {
  std::int64_t length = 0;
  bool reverse = false;
  std::int64_t unroll = 1;
  // Whether the carries that went into each step come out too, stacked: what the derivative needs.
  // Unless given: inside a trace or on a tape. A program leaves out those that nothing uses.
  std::optional<bool> stacks_carries = {};
};

struct ScanResults {
  std::vector<Array> carry;
  std::vector<Array> ys;
  std::vector<Array> stacked_carries;  // empty where they were not asked for
};

// Calls body(carry..., x...) -> (carry..., y...) for each step; the carries keep their types.
ScanResults flat_scan(const FlatFunction& body, std::span<const Array> init,
                      std::span<const Array> xs, const ScanLoop& loop);

}  // namespace lockstep
