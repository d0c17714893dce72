#include "lockstep/nn/initializers.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/trace/axes.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/operators.h"

namespace lockstep::nn::initializers {
namespace {

struct Fans {
  double in = 0.0;
  double out = 0.0;
};

double product_over(const Shape& shape, const std::vector<std::int64_t>& axes) {
  double product = 1.0;
  for (const std::int64_t axis : axes) {
    const std::int64_t index =
        normalize_axis("variance_scaling", axis, static_cast<std::int64_t>(shape.size()));
    product *= static_cast<double>(shape[static_cast<std::size_t>(index)]);
  }
  return product;
}

Fans fans_of(const Shape& shape, const FanAxes& axes) {
  if (shape.size() < 2 && axes.in_axis == FanAxes().in_axis) {
    throw_value_error(
        "variance_scaling",
        fmt::format("shape {} has no axes of inputs and outputs; give it at least two "
                    "axes, or name in_axis and out_axis",
                    to_string(shape)));
  }
  double size = 1.0;
  for (const std::int64_t length : shape) size *= static_cast<double>(length);
  const double in_size = product_over(shape, axes.in_axis);
  const double out_size = product_over(shape, axes.out_axis);
  const double receptive_field = size / in_size / out_size / product_over(shape, axes.batch_axis);
  return {.in = in_size * receptive_field, .out = out_size * receptive_field};
}

double denominator_of(const Fans& fans, FanMode mode) {
  switch (mode) {
    case FanMode::FanIn: return fans.in;
    case FanMode::FanOut: return fans.out;
    case FanMode::FanAvg: return (fans.in + fans.out) / 2.0;
    case FanMode::FanGeoAvg: return std::sqrt(fans.in * fans.out);
  }
  return fans.in;
}

// `value` as `dtype` holds it. JAX computes the factors below in the parameter's type, step by
// step.
double rounded(double value, DType dtype) {
  switch (dtype) {
    case DType::Float32: return static_cast<float>(value);
    case DType::BFloat16: return static_cast<float>(BFloat16(static_cast<float>(value)));
    case DType::Float16: return static_cast<float>(Float16(static_cast<float>(value)));
    default: return value;
  }
}

// One compiled program, as it is in JAX: op by op the products and sums round once more often.
Array truncated_normal_draw(const random::Key& key, double lower, double upper, const Shape& shape,
                            DType dtype) {
  const auto draw = [&](const Array& data) {
    return random::truncated_normal(random::Key(data), lower, upper, shape, dtype);
  };
  return key.data().is_traced() ? draw(key.data())
                                : jit(draw, {.name = "truncated_normal"})(key.data());
}

Initializer scaled(double scale, FanMode mode, Distribution distribution, const FanAxes& axes) {
  return variance_scaling(
      {.scale = scale, .mode = mode, .distribution = distribution, .axes = axes});
}

}  // namespace

Initializer zeros() {
  return [](const random::Key&, const Shape& shape, DType dtype) {
    return lockstep::zeros(shape, dtype);
  };
}

Initializer ones() {
  return [](const random::Key&, const Shape& shape, DType dtype) {
    return lockstep::ones(shape, dtype);
  };
}

Initializer constant(double value) {
  return [value](const random::Key&, const Shape& shape, DType dtype) {
    return full(shape, value, dtype);
  };
}

Initializer uniform(double scale) {
  return [scale](const random::Key& key, const Shape& shape, DType dtype) {
    return random::uniform(key, shape, dtype) * scale;
  };
}

Initializer normal(double stddev) {
  return [stddev](const random::Key& key, const Shape& shape, DType dtype) {
    return random::normal(key, shape, dtype) * stddev;
  };
}

Initializer truncated_normal(const TruncatedNormalOptions& options) {
  return [options](const random::Key& key, const Shape& shape, DType dtype) {
    return truncated_normal_draw(key, options.lower, options.upper, shape, dtype) * options.stddev;
  };
}

Initializer variance_scaling(const VarianceScalingOptions& options) {
  return [options](const random::Key& key, const Shape& shape, DType dtype) {
    const double n = denominator_of(fans_of(shape, options.axes), options.mode);
    const double variance = rounded(options.scale / n, dtype);
    switch (options.distribution) {
      case Distribution::TruncatedNormal: {
        // The standard deviation of a standard normal cut off at -2 and 2.
        const double cut_stddev = rounded(.87962566103423978, dtype);
        const double stddev = rounded(rounded(std::sqrt(variance), dtype) / cut_stddev, dtype);
        return truncated_normal_draw(key, -2.0, 2.0, shape, dtype) * stddev;
      }
      case Distribution::Normal:
        return random::normal(key, shape, dtype) * rounded(std::sqrt(variance), dtype);
      case Distribution::Uniform:
        return random::uniform(key, shape, dtype, -1.0, 1.0) *
               rounded(std::sqrt(rounded(3.0 * variance, dtype)), dtype);
    }
    throw_value_error("variance_scaling", "there is no such distribution");
  };
}

Initializer lecun_normal(const FanAxes& axes) {
  return scaled(1.0, FanMode::FanIn, Distribution::TruncatedNormal, axes);
}
Initializer lecun_uniform(const FanAxes& axes) {
  return scaled(1.0, FanMode::FanIn, Distribution::Uniform, axes);
}
Initializer glorot_normal(const FanAxes& axes) {
  return scaled(1.0, FanMode::FanAvg, Distribution::TruncatedNormal, axes);
}
Initializer glorot_uniform(const FanAxes& axes) {
  return scaled(1.0, FanMode::FanAvg, Distribution::Uniform, axes);
}
Initializer he_normal(const FanAxes& axes) {
  return scaled(2.0, FanMode::FanIn, Distribution::TruncatedNormal, axes);
}
Initializer he_uniform(const FanAxes& axes) {
  return scaled(2.0, FanMode::FanIn, Distribution::Uniform, axes);
}

}  // namespace lockstep::nn::initializers
