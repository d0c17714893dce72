// Products of matrices and tensors, all made of dot_general.
#include "lockstep/trace/linear_algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lockstep/base/error.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/promotion.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/literals.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

using Axes = std::vector<std::int64_t>;

// Both operands in their common type, shapes as they are.
std::pair<Array, Array> promoted(std::string_view where, const Array& a, const Array& b) {
  check_operand(where, a);
  check_operand(where, b);
  const std::vector<Array> operands{a, b};
  const PromotedType type = result_type(operands);
  return {convert_and_broadcast(a, type, a.shape()), convert_and_broadcast(b, type, b.shape())};
}

void refuse_scalar(std::string_view where, const Array& a, const Array& b) {
  if (a.ndim() > 0 && b.ndim() > 0) return;
  throw_value_error(
      where,
      fmt::format(
          "the operands are {} and {}; scalars have no axis to sum over, multiply them instead",
          to_string(a.abstract_value()), to_string(b.abstract_value())));
}

void check_inner(std::string_view where, const Array& a, std::int64_t a_axis, const Array& b,
                 std::int64_t b_axis) {
  const std::int64_t left = at(a.shape(), a_axis);
  const std::int64_t right = at(b.shape(), b_axis);
  if (left == right) return;
  throw_value_error(
      where,
      fmt::format("the inner lengths differ: {} has {} at axis {}, {} has {} at axis {}; transpose "
                  "one side or check the layer sizes",
                  to_string(a.abstract_value()), left, a_axis, to_string(b.abstract_value()), right,
                  b_axis));
}

}  // namespace

Array dot_general(const Array& lhs, const Array& rhs, const DotDimensionNumbers& dimensions,
                  const DotOptions& options) {
  const auto [a, b] = promoted("dot_general", lhs, rhs);
  DotDimensionNumbers axes = dimensions;
  for (std::int64_t& axis : axes.lhs_contracting)
    axis = normalize_axis("dot_general", axis, a.ndim());
  for (std::int64_t& axis : axes.rhs_contracting)
    axis = normalize_axis("dot_general", axis, b.ndim());
  for (std::int64_t& axis : axes.lhs_batch) axis = normalize_axis("dot_general", axis, a.ndim());
  for (std::int64_t& axis : axes.rhs_batch) axis = normalize_axis("dot_general", axis, b.ndim());
  return apply_one(
      primitives::dot_general({.dimensions = std::move(axes),
                               .precision = options.precision,
                               .preferred_element_type = options.preferred_element_type}),
      std::vector<Array>{a, b});
}

Array matmul(const Array& a, const Array& b, const DotOptions& options) {
  check_operand("matmul", a);
  check_operand("matmul", b);
  refuse_scalar("matmul", a, b);
  const std::int64_t b_inner = std::max<std::int64_t>(b.ndim() - 2, 0);
  check_inner("matmul", a, a.ndim() - 1, b, b_inner);
  if (a.ndim() <= 2 || b.ndim() == 1) {
    // One operand without batch axes needs no broadcasting: its free axis just follows.
    if (b.ndim() <= 2) {
      return dot_general(a, b, {.lhs_contracting = {a.ndim() - 1}, .rhs_contracting = {b_inner}},
                         options);
    }
  } else if (b.ndim() == 2) {
    return dot_general(a, b, {.lhs_contracting = {a.ndim() - 1}, .rhs_contracting = {0}}, options);
  }
  const Array left = a.ndim() == 1 ? expand_dims(a, 0) : a;
  const Array right = b.ndim() == 1 ? expand_dims(b, 1) : b;
  const Shape left_batch(left.shape().begin(), left.shape().end() - 2);
  const Shape right_batch(right.shape().begin(), right.shape().end() - 2);
  const std::vector<Shape> batches{left_batch, right_batch};
  const Shape batch = broadcast_shapes("matmul", batches);
  const auto with_batch = [&](const Array& x) {
    Shape shape = batch;
    shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
    return broadcast_to(x, shape);
  };
  const auto ndim = static_cast<std::int64_t>(batch.size());
  const Axes batch_axes = range(ndim);
  Array product = dot_general(with_batch(left), with_batch(right),
                              {.lhs_contracting = {ndim + 1},
                               .rhs_contracting = {ndim},
                               .lhs_batch = batch_axes,
                               .rhs_batch = batch_axes},
                              options);
  if (b.ndim() == 1) product = squeeze(product, -1);
  if (a.ndim() == 1) product = squeeze(product, b.ndim() == 1 ? -1 : -2);
  return product;
}

Array dot(const Array& a, const Array& b, const DotOptions& options) {
  check_operand("dot", a);
  check_operand("dot", b);
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  const std::int64_t b_axis = std::max<std::int64_t>(b.ndim() - 2, 0);
  check_inner("dot", a, a.ndim() - 1, b, b_axis);
  return dot_general(a, b, {.lhs_contracting = {a.ndim() - 1}, .rhs_contracting = {b_axis}},
                     options);
}

Array vdot(const Array& a, const Array& b, const DotOptions& options) {
  const Array left = ravel(a);
  const Array right = ravel(b);
  check_inner("vdot", left, 0, right, 0);
  return dot_general(left, right, {.lhs_contracting = {0}, .rhs_contracting = {0}}, options);
}

Array tensordot(const Array& a, const Array& b, std::int64_t axes, const DotOptions& options) {
  check_operand("tensordot", a);
  check_operand("tensordot", b);
  if (axes < 0 || axes > std::min(a.ndim(), b.ndim())) {
    throw_value_error(
        "tensordot",
        fmt::format("axes is {} for {} and {}; it must be between 0 and the smaller rank", axes,
                    to_string(a.abstract_value()), to_string(b.abstract_value())));
  }
  Axes a_axes = range(axes);
  for (std::int64_t& axis : a_axes) axis += a.ndim() - axes;
  return tensordot(a, b, a_axes, range(axes), options);
}

Array tensordot(const Array& a, const Array& b, const std::vector<std::int64_t>& a_axes,
                const std::vector<std::int64_t>& b_axes, const DotOptions& options) {
  check_operand("tensordot", a);
  check_operand("tensordot", b);
  if (a_axes.size() != b_axes.size()) {
    throw_value_error("tensordot",
                      fmt::format("{} axes of a against {} of b; they are summed in pairs",
                                  a_axes.size(), b_axes.size()));
  }
  return dot_general(a, b, {.lhs_contracting = a_axes, .rhs_contracting = b_axes}, options);
}

Array outer(const Array& a, const Array& b) {
  return expand_dims(ravel(a), 1) * expand_dims(ravel(b), 0);
}

}  // namespace lockstep
