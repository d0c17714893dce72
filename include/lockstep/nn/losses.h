#pragma once
/// Losses, as in Optax: one value for each example (or element); take the mean yourself.
#include "lockstep/array/array.h"

namespace lockstep::nn {

/// -sum(labels * log_softmax(logits)) over the last axis, for `labels` of the logits' shape
/// (one-hot or any distribution); for integer labels of the shape without the last axis the same as
/// softmax_cross_entropy_with_integer_labels. ValueError naming both shapes otherwise.
[[nodiscard]] Array softmax_cross_entropy(const Array& logits, const Array& labels);

/// logsumexp(logits) - logits[label] over the last axis. A negative label counts from the end; one
/// out of range gives NaN. ValueError for labels that are not integers or not of the logits' shape
/// without the last axis.
[[nodiscard]] Array softmax_cross_entropy_with_integer_labels(const Array& logits,
                                                              const Array& labels);

/// -labels log(sigmoid(logits)) - (1 - labels) log(1 - sigmoid(logits)), element by element.
[[nodiscard]] Array sigmoid_binary_cross_entropy(const Array& logits, const Array& labels);

/// (predictions - targets)^2, element by element. ValueError where the shapes differ: they are not
/// broadcast, as (n,) against (n, 1) is a mistake.
[[nodiscard]] Array squared_error(const Array& predictions, const Array& targets);
/// Half of squared_error.
[[nodiscard]] Array l2_loss(const Array& predictions, const Array& targets);
/// The mean of squared_error over all elements.
[[nodiscard]] Array mse(const Array& predictions, const Array& targets);
/// Half the square of the error where it is at most `delta`, else delta (|error| - delta / 2).
[[nodiscard]] Array huber_loss(const Array& predictions, const Array& targets, double delta = 1.0);

}  // namespace lockstep::nn
