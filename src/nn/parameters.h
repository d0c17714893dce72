#pragma once
// What the layers share.
#include <optional>
#include <string_view>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep::nn {

// The parameter `name` of a layer; ValueError "[layer] ..." saying what is there in its place.
[[nodiscard]] const Array& parameter(std::string_view layer, const Tree& params,
                                     std::string_view name);

// Arrays in their common floating type, or in `dtype`; null arrays stay null.
[[nodiscard]] std::vector<Array> promote_dtype(std::vector<Array> arrays,
                                               std::optional<DType> dtype);

}  // namespace lockstep::nn
