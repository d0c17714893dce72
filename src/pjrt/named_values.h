#pragma once
// Create options and attributes, to and from the C API's form.
#include <vector>

#include "lockstep/pjrt/plugin.h"
#include "pjrt/api_call.h"

namespace lockstep::pjrt {

// Points into `values`, which must outlive it.
[[nodiscard]] std::vector<PJRT_NamedValue> to_api(const NamedValues& values);

[[nodiscard]] NamedValues from_api(const PJRT_NamedValue* values, std::size_t count);

}  // namespace lockstep::pjrt
