#pragma once
// The StableHLO of a scan.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/trace/function_builder.h"
#include "trace/control_flow/body.h"

namespace lockstep {

struct ScanProgram {
  const Body& body;  // (carries, elements of xs, captures) -> (carries, ys)
  std::size_t num_carry = 0;
  std::size_t num_xs = 0;
  std::int64_t length = 0;
  bool reverse = false;
  std::int64_t unroll = 1;
  bool stacks_carries = false;
};

// Emits a while loop of length / unroll passes, then the steps that are left. `inputs` are the SSA
// names of carries, xs and captures. Stacked outputs that are not `used` are left out.
std::vector<std::string> lower_scan(FunctionBuilder& builder, std::span<const std::string> inputs,
                                    const ScanProgram& program, const std::vector<bool>& used);

}  // namespace lockstep
