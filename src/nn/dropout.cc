#include "lockstep/nn/dropout.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/trace/axes.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"

namespace lockstep::nn {

Tree Dropout::init(const Scope&, const AbstractValue&) const {
  return {};
}

Array Dropout::apply(const Tree&, const Array& x) const {
  return x;
}

Array Dropout::apply(const Tree&, const Array& x, Scope scope) const {
  if (!(rate >= 0.0 && rate <= 1.0)) {
    throw_value_error("Dropout", fmt::format("rate is {}; it must be from 0 to 1", rate));
  }
  if (rate == 0.0) return x;
  if (rate == 1.0) return zeros_like(x);
  const double keep = 1.0 - rate;
  Shape shape = x.shape();
  for (const std::int64_t axis : broadcast_dims) {
    shape[static_cast<std::size_t>(normalize_axis("Dropout", axis, x.ndim()))] = 1;
  }
  return where(random::bernoulli(scope.next_key(), keep, shape), x / keep, 0);
}

}  // namespace lockstep::nn
