#pragma once
// The while primitive: a loop whose length its state decides.
#include <span>
#include <vector>

#include "lockstep/trace/record.h"

namespace lockstep {

// carry = body(carry...) as long as condition(carry...), a scalar bool. The carries keep their
// types.
std::vector<Array> flat_while(const FlatFunction& condition, const FlatFunction& body,
                              std::span<const Array> init);

}  // namespace lockstep
