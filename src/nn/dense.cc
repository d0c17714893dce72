#include "lockstep/nn/dense.h"

#include <fmt/format.h>

#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/trace/linear_algebra.h"
#include "lockstep/trace/operators.h"
#include "nn/parameters.h"

namespace lockstep::nn {

Tree Dense::init(Scope scope, const AbstractValue& sample) const {
  if (sample.shape.empty()) {
    throw_value_error("Dense", "the input is a scalar; it needs an axis of features, the last one");
  }
  if (features <= 0) {
    throw_value_error("Dense", fmt::format("features is {}; it must be positive", features));
  }
  Tree params{
      {"kernel", kernel_init(scope.next_key(), {sample.shape.back(), features}, param_dtype)}};
  if (use_bias) params["bias"] = bias_init(scope.next_key(), {features}, param_dtype);
  return params;
}

Array Dense::apply(const Tree& params, const Array& x) const {
  const Array& kernel = parameter("Dense", params, "kernel");
  if (kernel.ndim() != 2 || x.ndim() < 1 || x.shape().back() != kernel.shape().front()) {
    throw_value_error("Dense", fmt::format("the input has shape {} and the kernel {}; the input's "
                                           "last axis must be as long as the kernel's first",
                                           to_string(x.shape()), to_string(kernel.shape())));
  }
  const std::vector<Array> operands =
      promote_dtype({x, kernel, use_bias ? parameter("Dense", params, "bias") : Array()}, dtype);
  const Array product = dot_general(operands[0], operands[1],
                                    {.lhs_contracting = {x.ndim() - 1}, .rhs_contracting = {0}});
  return use_bias ? product + operands[2] : product;
}

}  // namespace lockstep::nn
