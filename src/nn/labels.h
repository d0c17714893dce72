#pragma once
// Labels of classes: indices, or one row of weights for each example.
#include <string_view>

#include "lockstep/array/array.h"

namespace lockstep::nn {

// Whether `labels` are class indices (integers of the logits' shape without the last axis) rather
// than rows of the logits' shape; ValueError "[where] ..." naming both shapes where they are
// neither.
[[nodiscard]] bool labels_are_indices(std::string_view where, const Array& logits,
                                      const Array& labels);

// ValueError "[where] ..." unless `labels` are class indices.
void check_index_labels(std::string_view where, const Array& logits, const Array& labels);

}  // namespace lockstep::nn
