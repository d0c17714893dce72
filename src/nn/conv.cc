#include "lockstep/nn/conv.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/shape_ops.h"
#include "nn/parameters.h"

namespace lockstep::nn {
namespace {

void check_input(const Shape& input, std::size_t spatial_rank) {
  if (spatial_rank == 0) {
    throw_value_error("Conv", "kernel_size is empty; give one length for each spatial axis");
  }
  if (input.size() < spatial_rank + 1) {
    throw_value_error("Conv", fmt::format("the input has shape {}; a kernel over {} spatial axes "
                                          "needs (batch, spatial..., features)",
                                          to_string(input), spatial_rank));
  }
}

}  // namespace

Tree Conv::init(Scope scope, const AbstractValue& sample) const {
  check_input(sample.shape, kernel_size.size());
  const std::int64_t channels = sample.shape.back();
  if (features <= 0 || feature_group_count <= 0 || channels % feature_group_count != 0 ||
      features % feature_group_count != 0) {
    throw_value_error(
        "Conv", fmt::format("features is {}, the input has {} channels (shape {}) and "
                            "feature_group_count is {}; all must be positive, and "
                            "both must be divisible by the number of groups",
                            features, channels, to_string(sample.shape), feature_group_count));
  }
  Shape kernel_shape = kernel_size;
  kernel_shape.push_back(channels / feature_group_count);
  kernel_shape.push_back(features);
  Tree params{{"kernel", kernel_init(scope.next_key(), kernel_shape, param_dtype)}};
  if (use_bias) params["bias"] = bias_init(scope.next_key(), {features}, param_dtype);
  return params;
}

Array Conv::apply(const Tree& params, const Array& x) const {
  check_input(x.shape(), kernel_size.size());
  const Array& kernel = parameter("Conv", params, "kernel");
  const std::size_t rank = kernel_size.size();
  const bool is_kernel =
      kernel.shape().size() == rank + 2 &&
      Shape(kernel.shape().begin(), kernel.shape().begin() + static_cast<std::ptrdiff_t>(rank)) ==
          kernel_size;
  if (!is_kernel || kernel.shape()[rank] * feature_group_count != x.shape().back()) {
    throw_value_error(
        "Conv", fmt::format("the input has {} channels (shape {}) and the kernel shape {}; the "
                            "kernel must be (kernel_size..., channels / {}, features)",
                            x.shape().back(), to_string(x.shape()), to_string(kernel.shape()),
                            feature_group_count));
  }
  const std::vector<Array> operands =
      promote_dtype({x, kernel, use_bias ? parameter("Conv", params, "bias") : Array()}, dtype);

  // One batch axis, whatever leads the spatial axes.
  const auto first_spatial = static_cast<std::ptrdiff_t>(x.shape().size() - rank - 1);
  const Shape batch(x.shape().begin(), x.shape().begin() + first_spatial);
  const Shape rest(x.shape().begin() + first_spatial, x.shape().end());
  Array input = operands[0];
  if (batch.size() != 1) {
    Shape flat = rest;
    flat.insert(flat.begin(), num_elements(batch));
    input = reshape(input, flat);
  }
  Array output = conv_general_dilated(input, operands[1],
                                      {.window_strides = strides,
                                       .padding = padding,
                                       .lhs_dilation = input_dilation,
                                       .rhs_dilation = kernel_dilation,
                                       .feature_group_count = feature_group_count});
  if (use_bias) output = output + operands[2];
  if (batch.size() == 1) return output;
  Shape shape = batch;
  shape.insert(shape.end(), output.shape().begin() + 1, output.shape().end());
  return reshape(output, shape);
}

}  // namespace lockstep::nn
