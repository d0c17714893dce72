#pragma once
/// Measures of how good a model is. None has a derivative.
#include "lockstep/array/array.h"

namespace lockstep {
namespace nn {

/// The share of rows whose largest logit (the first of equals) is the label's, a float32 scalar.
/// Labels are integers of the logits' shape without the last axis, or one-hot of their shape.
[[nodiscard]] Array accuracy(const Array& logits, const Array& labels);

}  // namespace nn

using nn::accuracy;

}  // namespace lockstep
