#pragma once
// Constants in MLIR's text form, exact to the bit.
#include <string>

#include "lockstep/array/host_tensor.h"

namespace lockstep {

// One element of `dtype` with the value nearest to `value`: "1.5", "0x7FC00000", "true", "(1.0,
// 0.0)".
std::string element_text(DType dtype, double value);

// The elements as a DenseElementsAttr without its type: "dense<[[1.0, 2.0]]>". One value for all
// elements is printed once.
std::string dense_text(const HostTensor& tensor);

// Whether all elements have the same bytes (false for no elements).
bool is_splat(const HostTensor& tensor);

}  // namespace lockstep
