#pragma once
// The carries of loops: they keep their structure, shapes and types from step to step.
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/trace/record.h"
#include "lockstep/tree/structure.h"

namespace lockstep {

// Gives the types that a body gives back for carries of these types.
using CarryRule = std::function<std::vector<AbstractValue>(std::span<const AbstractValue>)>;

// `init` with weak types made those that the body gives back (an initial 0.0 becomes what the body
// makes of it). ValueError naming the carry whose type does not last.
std::vector<Array> settled_carry(std::string_view where, std::span<const Array> init,
                                 const TreeStructure& structure, const CarryRule& rule);

// `results` as exactly `types`, which differ at most in being weak.
std::vector<Array> as_types(std::span<const Array> results, std::span<const AbstractValue> types);

// ValueError unless the carry that comes out has the structure of the one that went in.
void check_carry_structure(std::string_view where, const TreeStructure& before,
                           const TreeStructure& after);

}  // namespace lockstep
