#include "lockstep/nn/activations.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "lockstep/base/error.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/promotion.h"
#include "lockstep/trace/shape_ops.h"

namespace lockstep::nn {
namespace {

Array inexact(const Array& x) {
  const DType dtype = to_inexact({x.dtype(), x.weak_type()}).dtype;
  return x.dtype() == dtype ? x : astype(x, dtype);
}

}  // namespace

// Not maximum(x, 0), which would halve the gradient at 0. A NaN is let through.
Array relu(const Array& x) {
  return where(x <= 0, 0, x);
}

Array relu6(const Array& x) {
  return where(x <= 0, 0, where(x >= 6, 6, x));
}

Array silu(const Array& x) {
  return x * sigmoid(x);
}

Array swish(const Array& x) {
  return silu(x);
}

Array softplus(const Array& x) {
  return logaddexp(x, 0.0);
}

Array log_sigmoid(const Array& x) {
  return -softplus(-x);
}

Array soft_sign(const Array& x) {
  return x / (abs(x) + 1);
}

Array hard_tanh(const Array& x) {
  return where(x > 1, 1, where(x < -1, -1, x));
}

Array hard_sigmoid(const Array& x) {
  return relu6(x + 3.0) / 6.0;
}

Array hard_silu(const Array& x) {
  return x * hard_sigmoid(x);
}

Array selu(const Array& x) {
  constexpr double alpha = 1.6732632423543772848170429916717;
  constexpr double scale = 1.0507009873554804934193349852946;
  return scale * elu(x, alpha);
}

Array mish(const Array& x) {
  return x * tanh(softplus(x));
}

Array Gelu::operator()(const Array& x, bool approximate) const {
  const Array y = inexact(x);
  if (approximate) {
    const double slope = std::sqrt(2.0 / std::numbers::pi);
    return y * (0.5 * (1.0 + tanh(slope * (y + 0.044715 * integer_pow(y, 3)))));
  }
  return 0.5 * y * (1.0 + erf(y * std::sqrt(0.5)));
}

// The argument of expm1 is kept finite where its result is not used: its derivative would be a NaN.
Array Elu::operator()(const Array& x, double alpha) const {
  const Array is_positive = x > 0;
  return where(is_positive, x, alpha * expm1(where(is_positive, 0, x)));
}

Array Celu::operator()(const Array& x, double alpha) const {
  return maximum(x, 0.0) + alpha * expm1(minimum(x, 0.0) / alpha);
}

Array LeakyRelu::operator()(const Array& x, double negative_slope) const {
  return where(x >= 0, x, negative_slope * x);
}

Array Glu::operator()(const Array& x, std::int64_t axis) const {
  const std::int64_t where_to_split = normalize_axis("glu", axis, x.ndim());
  const std::int64_t length = x.shape()[static_cast<std::size_t>(where_to_split)];
  if (length % 2 != 0) {
    throw_value_error("glu",
                      fmt::format("axis {} of shape {} has the odd length {}; it is split in "
                                  "two halves",
                                  axis, to_string(x.shape()), length));
  }
  const std::vector<Array> halves = split(x, 2, where_to_split);
  return halves[0] * sigmoid(halves[1]);
}

}  // namespace lockstep::nn
