#include "lockstep/optim/scale_by_trust_ratio.h"

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation scale_by_trust_ratio(const ScaleByTrustRatioOptions& options) {
  return stateless([options](const Tree& updates, const Tree& params) {
    check_like("scale_by_trust_ratio", "the parameters", params, "the updates", updates);
    const auto norm = [&](const Array& x) {
      return maximum(sqrt(sum(square(x))), options.min_norm);
    };
    return map_tree(
        [&](const Array& u, const Array& p) {
          const Array param_norm = norm(p);
          const Array update_norm = norm(u);
          const Array ratio = options.trust_coefficient * param_norm / (update_norm + options.eps);
          const Array is_zero = logical_or(param_norm == 0.0, update_norm == 0.0);
          return u * where(is_zero, 1.0, ratio);
        },
        updates, params);
  });
}

}  // namespace lockstep::optim
