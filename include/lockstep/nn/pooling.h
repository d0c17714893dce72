#pragma once
/// Pooling and flattening as layers.
#include "lockstep/trace/convolution.h"

namespace lockstep::nn {

using lockstep::avg_pool;
using lockstep::max_pool;
using lockstep::min_pool;

/// max_pool and avg_pool with their options, for Sequential:
/// `MaxPool{{.window_shape = {2, 2}, .strides = {2, 2}}}`.
struct MaxPool {
  PoolOptions options = {};
  [[nodiscard]] Array operator()(const Array& x) const { return max_pool(x, options); }
};
struct AvgPool {
  PoolOptions options = {};
  [[nodiscard]] Array operator()(const Array& x) const { return avg_pool(x, options); }
};

/// (batch, ...) to (batch, everything else), row-major. ValueError for a scalar.
struct Flatten {
  [[nodiscard]] Array operator()(const Array& x) const;
};

}  // namespace lockstep::nn
