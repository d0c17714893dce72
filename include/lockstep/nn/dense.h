#pragma once
/// The fully connected layer.
#include <cstdint>
#include <optional>

#include "lockstep/nn/initializers.h"
#include "lockstep/nn/scope.h"

namespace lockstep::nn {

/// x kernel + bias over the last axis: (..., in) to (..., features). Parameters: kernel
/// (in, features) and bias (features,). Computes in the common floating type of input and
/// parameters, or in `dtype`. ValueError where the input's last axis is not the kernel's first.
struct Dense {
  std::int64_t features = 0;
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
