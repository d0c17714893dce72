#include "lockstep/nn/losses.h"

#include <fmt/format.h>

#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/nn/activations.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/trace/shape_ops.h"
#include "nn/labels.h"

namespace lockstep::nn {
namespace {

void check_floating(std::string_view where, std::string_view name, const Array& x) {
  if (is_floating(x.dtype())) return;
  throw_value_error(
      where, fmt::format("{} are {}; they must be floating", name, to_string(x.abstract_value())));
}

void check_equal_shapes(std::string_view where, const Array& predictions, const Array& targets) {
  check_floating(where, "predictions", predictions);
  if (predictions.shape() == targets.shape()) return;
  throw_value_error(where, fmt::format("predictions have shape {} and targets {}; they must be "
                                       "equal (reshape one of them)",
                                       to_string(predictions.shape()), to_string(targets.shape())));
}

}  // namespace

Array softmax_cross_entropy(const Array& logits, const Array& labels) {
  if (labels_are_indices("softmax_cross_entropy", logits, labels)) {
    return softmax_cross_entropy_with_integer_labels(logits, labels);
  }
  check_floating("softmax_cross_entropy", "logits", logits);
  return -sum(labels * log_softmax(logits, -1), {.axis = -1});
}

Array softmax_cross_entropy_with_integer_labels(const Array& logits, const Array& labels) {
  constexpr std::string_view where_ = "softmax_cross_entropy_with_integer_labels";
  check_floating(where_, "logits", logits);
  check_index_labels(where_, logits, labels);
  const std::int64_t num_classes = logits.shape().back();
  // Picked by comparison, not by a gather: its derivative is a select that fuses with the softmax,
  // where a gather's is a scatter.
  const Array wide = astype(labels, int32);
  const Array index =
      is_unsigned_integer(labels.dtype()) ? wide : where(wide < 0, wide + num_classes, wide);
  const Array classes = broadcasted_iota(int32, logits.shape(), logits.ndim() - 1);
  const Array is_label = expand_dims(index, -1) == classes;
  const Array label_logit = sum(where(is_label, logits, 0), {.axis = -1});
  const Array is_valid = logical_and(index >= 0, index < num_classes);
  return where(is_valid, logsumexp(logits, {.axis = -1}) - label_logit,
               std::numeric_limits<double>::quiet_NaN());
}

Array sigmoid_binary_cross_entropy(const Array& logits, const Array& labels) {
  check_floating("sigmoid_binary_cross_entropy", "logits", logits);
  const Array target = astype(labels, logits.dtype());
  return -target * log_sigmoid(logits) - (1.0 - target) * log_sigmoid(-logits);
}

Array squared_error(const Array& predictions, const Array& targets) {
  check_equal_shapes("squared_error", predictions, targets);
  return square(predictions - targets);
}

Array l2_loss(const Array& predictions, const Array& targets) {
  check_equal_shapes("l2_loss", predictions, targets);
  return 0.5 * square(predictions - targets);
}

Array mse(const Array& predictions, const Array& targets) {
  check_equal_shapes("mse", predictions, targets);
  return mean(square(predictions - targets));
}

Array huber_loss(const Array& predictions, const Array& targets, double delta) {
  check_equal_shapes("huber_loss", predictions, targets);
  const Array errors = abs(predictions - targets);
  const Array quadratic = minimum(errors, delta);
  return 0.5 * square(quadratic) + delta * (errors - quadratic);
}

}  // namespace lockstep::nn
