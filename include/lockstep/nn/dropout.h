#pragma once
/// Dropout.
#include <cstdint>
#include <vector>

#include "lockstep/nn/scope.h"

namespace lockstep::nn {

/// With a scope (in training) each element is 0 with probability `rate`, else divided by 1 - rate;
/// axes of `broadcast_dims` share one draw. Without a scope the input. No parameters. The mask is
/// the one flax.linen.Dropout draws from the same key. ValueError for a rate outside [0, 1].
struct Dropout {
  double rate = 0.0;
  std::vector<std::int64_t> broadcast_dims = {};

  [[nodiscard]] Tree init(const Scope& scope, const AbstractValue& sample) const;
  [[nodiscard]] Array apply(const Tree& params, const Array& x) const;
  [[nodiscard]] Array apply(const Tree& params, const Array& x, Scope scope) const;
};

}  // namespace lockstep::nn
