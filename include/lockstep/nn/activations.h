#pragma once
/// Activation functions, as in jax.nn. Elementwise unless a line says otherwise; integers become
/// the floating type their op has. Those with options are function objects, so that each can stand
/// in a Sequential as it is.
#include <cstdint>

#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/reductions.h"

namespace lockstep::nn {

using lockstep::sigmoid;
using lockstep::tanh;

/// max(x, 0). Derivative 0 at 0.
[[nodiscard]] Array relu(const Array& x);
/// min(max(x, 0), 6). Derivative 0 at 0 and at 6.
[[nodiscard]] Array relu6(const Array& x);
/// x sigmoid(x).
[[nodiscard]] Array silu(const Array& x);
[[nodiscard]] Array swish(const Array& x);  ///< silu
/// log(1 + e^x).
[[nodiscard]] Array softplus(const Array& x);
/// log(sigmoid(x)) = -softplus(-x).
[[nodiscard]] Array log_sigmoid(const Array& x);
/// x / (1 + |x|).
[[nodiscard]] Array soft_sign(const Array& x);
/// x held in [-1, 1].
[[nodiscard]] Array hard_tanh(const Array& x);
/// relu6(x + 3) / 6.
[[nodiscard]] Array hard_sigmoid(const Array& x);
/// x hard_sigmoid(x).
[[nodiscard]] Array hard_silu(const Array& x);
/// scale * elu(x, alpha) with the constants of Klambauer et al. 2017, arXiv:1706.02515.
[[nodiscard]] Array selu(const Array& x);
/// x tanh(softplus(x)).
[[nodiscard]] Array mish(const Array& x);

struct Gelu {
  [[nodiscard]] Array operator()(const Array& x, bool approximate = true) const;
};
/// x Phi(x), Phi the normal distribution: by tanh, or exactly (by erf) without `approximate`. Far
/// below 0, where Phi is all but 0, it is right to the rounding of x only.
inline constexpr Gelu gelu{};

struct Elu {
  [[nodiscard]] Array operator()(const Array& x, double alpha = 1.0) const;
};
/// x where positive, else alpha (e^x - 1).
inline constexpr Elu elu{};

struct Celu {
  [[nodiscard]] Array operator()(const Array& x, double alpha = 1.0) const;
};
/// max(x, 0) + alpha (e^(min(x, 0) / alpha) - 1).
inline constexpr Celu celu{};

struct LeakyRelu {
  [[nodiscard]] Array operator()(const Array& x, double negative_slope = 0.01) const;
};
/// x where not negative, else negative_slope x.
inline constexpr LeakyRelu leaky_relu{};

struct Glu {
  [[nodiscard]] Array operator()(const Array& x, std::int64_t axis = -1) const;
};
/// The first half along `axis` times the sigmoid of the second. ValueError for an odd length.
inline constexpr Glu glu{};

struct Softmax {
  [[nodiscard]] Array operator()(const Array& x, const AxisSet& axis = -1) const {
    return lockstep::softmax(x, axis);
  }
};
/// e^x / sum(e^x) along `axis`.
inline constexpr Softmax softmax{};

struct LogSoftmax {
  [[nodiscard]] Array operator()(const Array& x, const AxisSet& axis = -1) const {
    return lockstep::log_softmax(x, axis);
  }
};
/// The logarithm of softmax.
inline constexpr LogSoftmax log_softmax{};

}  // namespace lockstep::nn
