#pragma once
// The conditional primitive: one of several branches, by an index.
#include <span>
#include <vector>

#include "lockstep/trace/record.h"

namespace lockstep {

// branches[index](operands...); `index` is an int32 scalar within the range. All branches give the
// same types.
std::vector<Array> flat_switch(const Array& index, std::span<const FlatFunction> branches,
                               std::span<const Array> operands);

}  // namespace lockstep
