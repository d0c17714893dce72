#include "lockstep/optim/clip.h"

#include <vector>

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep::optim {

Array global_norm(const Tree& tree) {
  Array total = 0.0;
  bool is_first = true;
  for (const Array& leaf : flatten(tree)) {
    const Array squares = sum(square(leaf));
    total = is_first ? squares : total + squares;
    is_first = false;
  }
  return sqrt(total);
}

GradientTransformation clip_by_global_norm(double max_norm) {
  return stateless([max_norm](const Tree& updates, const Tree&) {
    const Array norm = global_norm(updates);
    const Array is_small = norm < max_norm;
    return map_tree(
        [&](const Array& g) { return where(is_small, g, g / astype(norm, g.dtype()) * max_norm); },
        updates);
  });
}

GradientTransformation clip(double max_delta) {
  return stateless([max_delta](const Tree& updates, const Tree&) {
    return map_tree(
        [max_delta](const Array& g) { return lockstep::clip(g, -max_delta, max_delta); }, updates);
  });
}

}  // namespace lockstep::optim
