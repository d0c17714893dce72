#pragma once
// Running one primitive at once, outside a trace.
#include <memory>
#include <span>
#include <vector>

#include "lockstep/trace/primitive.h"

namespace lockstep {

// Compiles the primitive for these inputs' types and devices, once, and runs it. Inputs in host
// memory go to the devices of the others, or to default_device().
std::vector<Array> run_eagerly(const std::shared_ptr<const Primitive>& primitive,
                               std::span<const Array> inputs);

}  // namespace lockstep
