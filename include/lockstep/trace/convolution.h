#pragma once
/// Convolution and pooling over any number of spatial axes.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/linear_algebra.h"

namespace lockstep {

/// "SAME", "VALID", or (low, high) for each spatial axis.
class Padding {
 public:
  using Explicit = std::vector<std::pair<std::int64_t, std::int64_t>>;

  Padding() = default;                        ///< "VALID"
  Padding(const char* name) : name_(name) {}  // NOLINT: ValueError when used, if it is no such name
  Padding(std::string name) : name_(std::move(name)) {}            // NOLINT
  Padding(Explicit pads) : name_(), explicit_(std::move(pads)) {}  // NOLINT
  Padding(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pads)
      : name_(), explicit_(pads) {}

  /// (low, high) for a window over an input, both of these (dilated) lengths. SAME makes the result
  /// ceil(input / stride) long, the odd one of the padding at the end.
  [[nodiscard]] Explicit resolve(std::string_view where, const std::vector<std::int64_t>& input,
                                 const std::vector<std::int64_t>& window,
                                 const std::vector<std::int64_t>& strides) const;

 private:
  std::string name_ = "VALID";
  Explicit explicit_;
};

/// What each axis is, one letter each: N batch, C (I, O in the kernel) features, other letters
/// spatial, matched by letter. Empty strings mean features last: "NHWC", "HWIO", "NHWC" (of any
/// rank).
struct ConvDimensionNumbers {
  std::string lhs = {};
  std::string rhs = {};
  std::string out = {};
  [[nodiscard]] bool operator==(const ConvDimensionNumbers&) const = default;
};

/// Lists that are empty are ones for every spatial axis.
struct ConvOptions {
  std::vector<std::int64_t> window_strides = {};
  Padding padding = {};
  std::vector<std::int64_t> lhs_dilation = {};
  std::vector<std::int64_t> rhs_dilation = {};
  ConvDimensionNumbers dimension_numbers = {};
  std::int64_t feature_group_count = 1;
  std::int64_t batch_group_count = 1;
  Precision precision = Precision::Default;
  std::optional<DType> preferred_element_type = {};
};

/// lax.conv_general_dilated (a correlation: the kernel is not flipped). Types are promoted.
/// ValueError "[conv_general_dilated] ..." naming shapes and axes. Linear in each operand; its
/// derivatives are convolutions.
[[nodiscard]] Array conv_general_dilated(const Array& lhs, const Array& rhs,
                                         const ConvOptions& options = {});

/// Pooling over the spatial axes of (batch, spatial..., features). As in Flax, strides are ones
/// unless given.
struct PoolOptions {
  std::vector<std::int64_t> window_shape = {};
  std::vector<std::int64_t> strides = {};
  Padding padding = {};
  bool count_include_pad =
      true;  ///< avg_pool: divide by the window's size also where it hangs over
};
/// The largest element of each window; padding never wins. The first of equal elements takes the
/// gradient.
[[nodiscard]] Array max_pool(const Array& x, const PoolOptions& options);
[[nodiscard]] Array min_pool(const Array& x, const PoolOptions& options);
/// The mean of each window. Floating.
[[nodiscard]] Array avg_pool(const Array& x, const PoolOptions& options);

/// A window of one length for each axis of the operand; lists that are empty are ones (zeros for
/// padding).
struct WindowOptions {
  std::vector<std::int64_t> window_dimensions = {};
  std::vector<std::int64_t> window_strides = {};
  std::vector<std::pair<std::int64_t, std::int64_t>> padding = {};
};
/// Sum, largest, smallest element of each window over all axes (lax.reduce_window).
[[nodiscard]] Array reduce_window_sum(const Array& x, const WindowOptions& options);
[[nodiscard]] Array reduce_window_max(const Array& x, const WindowOptions& options);
[[nodiscard]] Array reduce_window_min(const Array& x, const WindowOptions& options);

}  // namespace lockstep
