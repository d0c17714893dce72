#pragma once
/// Layer normalisation.
#include <optional>

#include "lockstep/nn/initializers.h"
#include "lockstep/nn/scope.h"

namespace lockstep::nn {

/// (x - mean) / sqrt(variance + epsilon) * scale + bias over the last axis, statistics in at least
/// float32; the variance is mean(x^2) - mean^2, and at least 0. Parameters: scale and bias,
/// (features,). Ba, Kiros and Hinton 2016, arXiv:1607.06450.
struct LayerNorm {
  double epsilon = 1e-6;
  bool use_bias = true;
  bool use_scale = true;
  std::optional<DType> dtype =
      {};  ///< type of the result; that of input and parameters unless given
  DType param_dtype = DType::Float32;
  Initializer scale_init = initializers::ones();
  Initializer bias_init = initializers::zeros();

  [[nodiscard]] Tree init(Scope scope, const AbstractValue& sample) const;
  [[nodiscard]] Tree init(Scope scope, const Array& sample) const {
    return init(std::move(scope), sample.abstract_value());
  }
  [[nodiscard]] Array apply(const Tree& params, const Array& x) const;
};

}  // namespace lockstep::nn
