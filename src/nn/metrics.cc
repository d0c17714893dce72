#include "lockstep/nn/metrics.h"

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/reductions.h"
#include "nn/labels.h"

namespace lockstep::nn {

Array accuracy(const Array& logits, const Array& labels) {
  const Array predicted = argmax(logits, {.axis = -1});
  const Array expected = labels_are_indices("accuracy", logits, labels)
                             ? astype(labels, predicted.dtype())
                             : argmax(labels, {.axis = -1});
  return mean(astype(predicted == expected, float32));
}

}  // namespace lockstep::nn
