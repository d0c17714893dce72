#pragma once
// Makers of the primitives. Ops call them after promotion and broadcasting; each family's rules
// stand in one file of primitives/.
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "lockstep/trace/convolution.h"
#include "lockstep/trace/indexing.h"
#include "lockstep/trace/linear_algebra.h"
#include "lockstep/trace/primitive.h"
#include "lockstep/trace/shape_ops.h"

namespace lockstep::primitives {

using PrimitivePtr = std::shared_ptr<const Primitive>;
using Axes = std::vector<std::int64_t>;

// Elementwise, by the name of their row in the family's table.
PrimitivePtr unary(std::string_view name);
PrimitivePtr binary(std::string_view name);
PrimitivePtr integer_pow(std::int64_t exponent);
// "EQ", "NE", "LT", "LE", "GT" or "GE".
PrimitivePtr compare(std::string_view direction);
PrimitivePtr select();
PrimitivePtr convert(DType dtype, bool weak_type = false);
PrimitivePtr bitcast(DType dtype);

// A value under a new name.
PrimitivePtr identity();
// Values under new names that the compiler cannot see through.
PrimitivePtr optimization_barrier();
// The hash: inputs key (uint32[2]), and two counters (uint32, of one shape); two words of that
// shape.
PrimitivePtr threefry2x32();

using Literal = std::variant<std::int64_t, double>;
PrimitivePtr constant(AbstractValue value, Literal literal);
PrimitivePtr iota(DType dtype, Shape shape, std::int64_t dimension);

PrimitivePtr broadcast_in_dim(Shape shape, Axes dimensions);
PrimitivePtr reshape(Shape shape);
PrimitivePtr transpose(Axes permutation);
PrimitivePtr reverse(Axes axes);
PrimitivePtr concatenate(std::int64_t axis);
PrimitivePtr slice(Axes starts, Axes limits, Axes strides);
PrimitivePtr pad(std::vector<PaddingDimension> padding);
PrimitivePtr dynamic_slice(Shape sizes);
PrimitivePtr dynamic_update_slice();

enum class Reduction { Sum, Prod, Max, Min, And, Or };
PrimitivePtr reduce(Reduction kind, Axes axes);
// Index of the first largest (smallest) along `axis`, as `index_dtype`.
PrimitivePtr argmax(std::int64_t axis, DType index_dtype);
PrimitivePtr argmin(std::int64_t axis, DType index_dtype);
PrimitivePtr cumsum(std::int64_t axis, bool reverse);

// A window over every axis; `base_dilation` spreads the operand first (sums only).
struct Window {
  Axes dimensions = {};
  Axes strides = {};
  Padding::Explicit padding = {};
  Axes base_dilation = {};
};
PrimitivePtr window_sum(Window window);
PrimitivePtr window_max(Window window);
PrimitivePtr window_min(Window window);

struct DotAttributes {
  DotDimensionNumbers dimensions = {};
  Precision precision = Precision::Default;
  std::optional<DType> preferred_element_type = {};
};
PrimitivePtr dot_general(DotAttributes attributes);

// A convolution whose axes are numbers: batch, feature (in the kernel: output feature, input
// feature), then the spatial axes in order.
struct ConvAttributes {
  Axes lhs_spec = {};
  Axes rhs_spec = {};
  Axes out_spec = {};
  Axes window_strides = {};
  Padding::Explicit padding = {};
  Axes lhs_dilation = {};
  Axes rhs_dilation = {};
  std::int64_t feature_group_count = 1;
  std::int64_t batch_group_count = 1;
  Precision precision = Precision::Default;
  std::optional<DType> preferred_element_type = {};
};
PrimitivePtr convolution(ConvAttributes attributes);

PrimitivePtr gather(GatherDimensionNumbers dimensions, Shape slice_sizes);
PrimitivePtr scatter_add(ScatterDimensionNumbers dimensions);

}  // namespace lockstep::primitives
