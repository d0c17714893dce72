#pragma once
// Rematerialisation: a part of a program whose inside is computed again for the backward pass.
#include <span>
#include <vector>

#include "lockstep/trace/record.h"

namespace lockstep {

// function(arguments...), keeping of it nothing but what goes in.
std::vector<Array> flat_checkpoint(const FlatFunction& function, std::span<const Array> arguments);

}  // namespace lockstep
