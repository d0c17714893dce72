#pragma once
/// The convolution layer.
#include <cstdint>
#include <optional>
#include <vector>

#include "lockstep/nn/initializers.h"
#include "lockstep/nn/scope.h"
#include "lockstep/trace/convolution.h"

namespace lockstep::nn {

/// Convolution over as many spatial axes as kernel_size has, features last: (batch, spatial..., in)
/// to (batch, spatial..., features); more than one batch axis, or none, may lead. Parameters:
/// kernel (kernel_size..., in / feature_group_count, features) and bias (features,). Lists that are
/// empty are ones. ValueError where the input's channels are not the kernel's.
struct Conv {
  std::int64_t features = 0;
  std::vector<std::int64_t> kernel_size = {};
  std::vector<std::int64_t> strides = {};
  Padding padding = "SAME";
  std::vector<std::int64_t> input_dilation = {};
  std::vector<std::int64_t> kernel_dilation = {};
  std::int64_t feature_group_count = 1;
  bool use_bias = true;
  std::optional<DType> dtype = {};  ///< type of the computation and its result
  DType param_dtype = DType::Float32;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros();

  [[nodiscard]] Tree init(Scope scope, const AbstractValue& sample) const;
  [[nodiscard]] Tree init(Scope scope, const Array& sample) const {
    return init(std::move(scope), sample.abstract_value());
  }
  [[nodiscard]] Array apply(const Tree& params, const Array& x) const;
};

}  // namespace lockstep::nn
