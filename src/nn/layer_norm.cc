#include "lockstep/nn/layer_norm.h"

#include <fmt/format.h>

#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/promotion.h"
#include "lockstep/trace/reductions.h"
#include "nn/parameters.h"

namespace lockstep::nn {

Tree LayerNorm::init(Scope scope, const AbstractValue& sample) const {
  if (sample.shape.empty()) {
    throw_value_error("LayerNorm", "the input is a scalar; it needs an axis of features");
  }
  Tree params;
  const Shape shape = {sample.shape.back()};
  if (use_scale) params["scale"] = scale_init(scope.next_key(), shape, param_dtype);
  if (use_bias) params["bias"] = bias_init(scope.next_key(), shape, param_dtype);
  return params;
}

Array LayerNorm::apply(const Tree& params, const Array& x) const {
  const Array scale = use_scale ? parameter("LayerNorm", params, "scale") : Array();
  const Array bias = use_bias ? parameter("LayerNorm", params, "bias") : Array();
  std::vector<Array> operands = {x};
  for (const Array& param : {scale, bias}) {
    if (param.is_null()) continue;
    operands.push_back(param);
    if (x.ndim() > 0 && param.shape() == Shape{x.shape().back()}) continue;
    throw_value_error("LayerNorm",
                      fmt::format("the input has shape {} and a parameter {}; parameters have the "
                                  "length of the input's last axis",
                                  to_string(x.shape()), to_string(param.shape())));
  }
  const DType result_dtype = dtype.value_or(to_inexact(result_type(operands)).dtype);
  const DType input_dtype = dtype.value_or(to_inexact({x.dtype(), x.weak_type()}).dtype);
  const DType statistics_dtype = promote_types(input_dtype, DType::Float32);
  const Array wide = x.dtype() == statistics_dtype ? x : astype(x, statistics_dtype);

  const Array mu = mean(wide, {.axis = -1, .keepdims = true});
  const Array mean_of_squares = mean(square(wide), {.axis = -1, .keepdims = true});
  const Array variance = maximum(0.0, mean_of_squares - square(mu));
  Array factor = rsqrt(variance + epsilon);
  if (use_scale) factor = factor * scale;
  Array y = (wide - mu) * factor;
  if (use_bias) y = y + bias;
  return y.dtype() == result_dtype ? y : astype(y, result_dtype);
}

}  // namespace lockstep::nn
