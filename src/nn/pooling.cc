#include "lockstep/nn/pooling.h"

#include "lockstep/base/error.h"
#include "lockstep/trace/shape_ops.h"

namespace lockstep::nn {

Array Flatten::operator()(const Array& x) const {
  if (x.ndim() == 0) throw_value_error("Flatten", "the input is a scalar; it needs a batch axis");
  if (x.ndim() == 2) return x;
  const std::int64_t batch = x.shape().front();
  const Shape rest(x.shape().begin() + 1, x.shape().end());
  return reshape(x, {batch, num_elements(rest)});
}

}  // namespace lockstep::nn
