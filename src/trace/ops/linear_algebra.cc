#include "lockstep/trace/linear_algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/literals.h"
#include "trace/rule_support.h"

namespace lockstep {
namespace {

std::vector<Array> promoted(std::string_view where, const Array& a, const Array& b) {
  check_operand(where, a);
  check_operand(where, b);
  const PromotedType type = result_type(std::vector<Array>{a, b});
  return {convert_and_broadcast(a, type, a.shape()), convert_and_broadcast(b, type, b.shape())};
}

std::string both(const Array& a, const Array& b) {
  return to_string(a.abstract_value()) + " and " + to_string(b.abstract_value());
}

}  // namespace

Array dot_general(const Array& lhs, const Array& rhs, const DotDimensionNumbers& dimensions,
                  const DotOptions& options) {
  return apply_one(
      primitives::dot_general({dimensions, options.precision, options.preferred_element_type}),
      promoted("dot_general", lhs, rhs));
}

Array matmul(const Array& a, const Array& b, const DotOptions& options) {
  const std::vector<Array> pair = promoted("matmul", a, b);
  const Array& lhs = pair[0];
  const Array& rhs = pair[1];
  if (lhs.ndim() == 0 || rhs.ndim() == 0) {
    throw_value_error("matmul", fmt::format("takes arrays of at least one axis, got {}; multiply "
                                            "scalars with *",
                                            both(lhs, rhs)));
  }
  const std::int64_t lhs_axis = lhs.ndim() - 1;
  const std::int64_t rhs_axis = std::max<std::int64_t>(rhs.ndim() - 2, 0);
  if (at(lhs.shape(), lhs_axis) != at(rhs.shape(), rhs_axis)) {
    throw_value_error(
        "matmul",
        fmt::format("contracting dimensions differ: lhs {} has {} at axis {}, rhs {} has "
                    "{} at axis {}; transpose one side or check the layer sizes",
                    to_string(lhs.abstract_value()), at(lhs.shape(), lhs_axis), lhs_axis,
                    to_string(rhs.abstract_value()), at(rhs.shape(), rhs_axis), rhs_axis));
  }
  // No stack on the right: one product, whatever stands before on the left.
  if (rhs.ndim() <= 2 || lhs.ndim() == 1) {
    const Array product = dot_general(
        lhs, rhs, {.lhs_contracting = {lhs_axis}, .rhs_contracting = {rhs_axis}}, options);
    return product;
  }
  // Leading axes that have one length on both sides run side by side; those of length 1 are dropped
  // on that side and come back as the other's, so nothing is copied.
  const std::int64_t lhs_stack = lhs.ndim() - 2;
  const std::int64_t rhs_stack = rhs.ndim() - 2;
  const Shape stack = broadcast_shapes(
      "matmul", std::vector<Shape>{Shape(lhs.shape().begin(), lhs.shape().end() - 2),
                                   Shape(rhs.shape().begin(), rhs.shape().end() - 2)});
  const auto ndim = static_cast<std::int64_t>(stack.size());
  std::vector<std::int64_t> lhs_batch, rhs_batch, lhs_dropped, rhs_dropped;
  std::vector<std::int64_t> batch_axes, lhs_only, rhs_only;  // stack axes by where they come from
  for (std::int64_t i = 0; i < ndim; ++i) {
    const std::int64_t l = i - (ndim - lhs_stack);
    const std::int64_t r = i - (ndim - rhs_stack);
    const bool on_left = l >= 0 && (at(lhs.shape(), l) != 1 || at(stack, i) == 1);
    const bool on_right = r >= 0 && (at(rhs.shape(), r) != 1 || at(stack, i) == 1);
    if (on_left && on_right) {
      lhs_batch.push_back(l);
      rhs_batch.push_back(r);
      batch_axes.push_back(i);
    } else if (on_left) {
      if (r >= 0) rhs_dropped.push_back(r);
      lhs_only.push_back(i);
    } else {
      if (l >= 0) lhs_dropped.push_back(l);
      rhs_only.push_back(i);
    }
  }
  const auto without = [](const std::vector<std::int64_t>& dropped, std::int64_t axis) {
    return axis - std::count_if(dropped.begin(), dropped.end(),
                                [&](std::int64_t other) { return other < axis; });
  };
  for (std::int64_t& axis : lhs_batch) axis = without(lhs_dropped, axis);
  for (std::int64_t& axis : rhs_batch) axis = without(rhs_dropped, axis);
  const Array product = dot_general(reshape(lhs, without_axes(lhs.shape(), lhs_dropped)),
                                    reshape(rhs, without_axes(rhs.shape(), rhs_dropped)),
                                    {.lhs_contracting = {without(lhs_dropped, lhs_axis)},
                                     .rhs_contracting = {without(rhs_dropped, rhs_axis)},
                                     .lhs_batch = lhs_batch,
                                     .rhs_batch = rhs_batch},
                                    options);
  // Now: batch, lhs only, rows, rhs only, columns. Wanted: the stack, rows, columns.
  std::vector<std::int64_t> place(stack.size());
  std::int64_t next = 0;
  for (const std::int64_t i : batch_axes) place[static_cast<std::size_t>(i)] = next++;
  for (const std::int64_t i : lhs_only) place[static_cast<std::size_t>(i)] = next++;
  const std::int64_t rows = next++;
  for (const std::int64_t i : rhs_only) place[static_cast<std::size_t>(i)] = next++;
  place.push_back(rows);
  place.push_back(next);
  return transpose(product, place);
}

Array dot(const Array& a, const Array& b, const DotOptions& options) {
  check_operand("dot", a);
  check_operand("dot", b);
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  return dot_general(a, b,
                     {.lhs_contracting = {a.ndim() - 1},
                      .rhs_contracting = {std::max<std::int64_t>(b.ndim() - 2, 0)}},
                     options);
}

Array vdot(const Array& a, const Array& b, const DotOptions& options) {
  return dot_general(ravel(a), ravel(b), {.lhs_contracting = {0}, .rhs_contracting = {0}}, options);
}

Array tensordot(const Array& a, const Array& b, std::int64_t axes, const DotOptions& options) {
  check_operand("tensordot", a);
  check_operand("tensordot", b);
  if (axes < 0 || axes > a.ndim() || axes > b.ndim()) {
    throw_value_error("tensordot", fmt::format("cannot sum over {} axes of {}; it must be at most "
                                               "the number of axes of each",
                                               axes, both(a, b)));
  }
  std::vector<std::int64_t> last = range(axes);
  for (std::int64_t& axis : last) axis += a.ndim() - axes;
  return tensordot(a, b, last, range(axes), options);
}

Array tensordot(const Array& a, const Array& b, const std::vector<std::int64_t>& a_axes,
                const std::vector<std::int64_t>& b_axes, const DotOptions& options) {
  check_operand("tensordot", a);
  check_operand("tensordot", b);
  std::vector<std::int64_t> lhs, rhs;
  for (const std::int64_t axis : a_axes) lhs.push_back(normalize_axis("tensordot", axis, a.ndim()));
  for (const std::int64_t axis : b_axes) rhs.push_back(normalize_axis("tensordot", axis, b.ndim()));
  return dot_general(a, b, {.lhs_contracting = lhs, .rhs_contracting = rhs}, options);
}

Array outer(const Array& a, const Array& b) {
  check_operand("outer", a);
  check_operand("outer", b);
  return multiply(reshape(a, {-1, 1}), reshape(b, {1, -1}));
}

}  // namespace lockstep
