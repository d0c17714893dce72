#pragma once
/// Ops that fold axes: sums, extremes, statistics, and the softmax family.
#include <cstdint>
#include <optional>

#include "lockstep/array/array.h"
#include "lockstep/trace/axes.h"

namespace lockstep {

/// What a reduction folds: `sum(x, {.axis = -1, .keepdims = true})`.
struct ReduceOptions {
  AxisSet axis = {};                ///< all axes unless given
  bool keepdims = false;            ///< folded axes stay with length 1
  std::optional<DType> dtype = {};  ///< type of the result (sum, prod, mean); x is converted first
};

/// Sum and product. bool and integers narrower than the default become the default integer; 16-bit
/// floats are summed in float32. Of nothing: 0 and 1. prod's gradient is right where elements are
/// zero.
[[nodiscard]] Array sum(const Array& x, const ReduceOptions& options = {});
[[nodiscard]] Array prod(const Array& x, const ReduceOptions& options = {});
/// Mean; integers give a float. NaN of nothing.
[[nodiscard]] Array mean(const Array& x, const ReduceOptions& options = {});
/// Largest and smallest; NaN where there is one. Equal elements share the gradient equally.
/// ValueError for an axis of length 0.
[[nodiscard]] Array max(const Array& x, const ReduceOptions& options = {});
[[nodiscard]] Array min(const Array& x, const ReduceOptions& options = {});
/// bool: some (every) element is not 0. No derivative.
[[nodiscard]] Array any(const Array& x, const ReduceOptions& options = {});
[[nodiscard]] Array all(const Array& x, const ReduceOptions& options = {});

/// Index of the first largest (smallest) element, or of the first NaN, along one axis (of all
/// elements in row-major order without one), as the default integer. No derivative. ValueError for
/// length 0.
struct ArgReduceOptions {
  std::optional<std::int64_t> axis = {};
  bool keepdims = false;
};
[[nodiscard]] Array argmax(const Array& x, const ArgReduceOptions& options = {});
[[nodiscard]] Array argmin(const Array& x, const ArgReduceOptions& options = {});

/// Mean squared deviation from the mean, by n - ddof.
struct VarOptions {
  AxisSet axis = {};
  bool keepdims = false;
  std::int64_t ddof = 0;
};
[[nodiscard]] Array var(const Array& x, const VarOptions& options = {});
/// Its square root (jnp.std); the derivative of a constant's is NaN.
[[nodiscard]] Array std_(const Array& x, const VarOptions& options = {});

/// log(sum(e^x)) without overflow. -inf of nothing; derivative NaN where all are -inf.
[[nodiscard]] Array logsumexp(const Array& x, const ReduceOptions& options = {});
/// Running sums along one axis, in x's type (bool: the default integer). The gradient is the
/// running sum of the cotangents from the other end.
[[nodiscard]] Array cumsum(const Array& x, std::int64_t axis);

/// e^x / sum(e^x) and its logarithm along `axis`, shifted by the maximum, which takes no gradient.
/// Inexact.
[[nodiscard]] Array softmax(const Array& x, const AxisSet& axis = -1);
[[nodiscard]] Array log_softmax(const Array& x, const AxisSet& axis = -1);

}  // namespace lockstep
