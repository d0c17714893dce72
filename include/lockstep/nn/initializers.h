#pragma once
/// Initial values of parameters, bit for bit those of jax.nn.initializers for the same key; in
/// float64, inside a larger compiled program, and truncated_normal's, to a few units of the last
/// place.
#include <cstdint>
#include <functional>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/random.h"

namespace lockstep::nn {

/// A parameter's initial value from its key, shape and floating type.
using Initializer = std::function<Array(const random::Key& key, const Shape& shape, DType dtype)>;

namespace initializers {

[[nodiscard]] Initializer zeros();
[[nodiscard]] Initializer ones();
[[nodiscard]] Initializer constant(double value);
/// Uniform in [0, scale).
[[nodiscard]] Initializer uniform(double scale = 1e-2);
/// Normal with mean 0.
[[nodiscard]] Initializer normal(double stddev = 1e-2);
/// Normal cut off at lower and upper, then times stddev (of the uncut normal).
struct TruncatedNormalOptions {
  double stddev = 1e-2;
  double lower = -2.0;
  double upper = 2.0;
};
[[nodiscard]] Initializer truncated_normal(const TruncatedNormalOptions& options = {});

/// Which axes of a parameter are its inputs and outputs; axes that are neither nor in batch_axis
/// are a convolution's receptive field and count for both. Negative axes count from the end.
struct FanAxes {
  std::vector<std::int64_t> in_axis = {-2};
  std::vector<std::int64_t> out_axis = {-1};
  std::vector<std::int64_t> batch_axis = {};
};

enum class FanMode { FanIn, FanOut, FanAvg, FanGeoAvg };
enum class Distribution { TruncatedNormal, Normal, Uniform };

/// Mean 0 and variance scale / n, where n is the number of inputs, of outputs, or their arithmetic
/// or geometric mean. The truncated normal is cut off at two standard deviations (before it is
/// scaled to the wanted variance). ValueError for a shape of fewer than two axes with the default
/// axes.
struct VarianceScalingOptions {
  double scale = 1.0;
  FanMode mode = FanMode::FanIn;
  Distribution distribution = Distribution::TruncatedNormal;
  FanAxes axes = {};
};
[[nodiscard]] Initializer variance_scaling(const VarianceScalingOptions& options);

/// variance_scaling with scale 1 (lecun, glorot) or 2 (he), by the inputs (lecun, he) or the mean
/// of inputs and outputs (glorot).
[[nodiscard]] Initializer lecun_normal(const FanAxes& axes = {});
[[nodiscard]] Initializer lecun_uniform(const FanAxes& axes = {});
[[nodiscard]] Initializer glorot_normal(const FanAxes& axes = {});
[[nodiscard]] Initializer glorot_uniform(const FanAxes& axes = {});
[[nodiscard]] Initializer he_normal(const FanAxes& axes = {});
[[nodiscard]] Initializer he_uniform(const FanAxes& axes = {});

}  // namespace initializers
}  // namespace lockstep::nn
