#pragma once
/// Ops that move elements without computing: reshape, transpose, slice, pad, concatenate and their
/// kin. All of them are linear; the derivative is the op applied to the tangent, and no element is
/// doubted.
#include <cstdint>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/trace/axes.h"

namespace lockstep {

/// x repeated along new leading axes and axes of length 1. ValueError where x does not broadcast.
[[nodiscard]] Array broadcast_to(const Array& x, const Shape& shape);
/// lax.broadcast_in_dim: axis i of x becomes axis dimensions[i] of the result.
[[nodiscard]] Array broadcast_in_dim(const Array& x, const Shape& shape,
                                     const std::vector<std::int64_t>& dimensions);
/// The same elements in row-major order; one length may be -1.
[[nodiscard]] Array reshape(const Array& x, const Shape& shape);
/// All elements in one axis.
[[nodiscard]] Array ravel(const Array& x);
/// Axes in reverse order, or in the order of `permutation` (negative axes allowed).
[[nodiscard]] Array transpose(const Array& x);
[[nodiscard]] Array transpose(const Array& x, const std::vector<std::int64_t>& permutation);
/// Two axes exchanged; one axis moved to another place.
[[nodiscard]] Array swapaxes(const Array& x, std::int64_t axis1, std::int64_t axis2);
[[nodiscard]] Array moveaxis(const Array& x, std::int64_t source, std::int64_t destination);
/// Without the axes of length 1: all of them, or those named (ValueError if one is longer).
[[nodiscard]] Array squeeze(const Array& x, const AxisSet& axis = {});
/// With new axes of length 1 at these places of the result.
[[nodiscard]] Array expand_dims(const Array& x, const AxisSet& axis);

/// Joined along an existing axis; types are promoted. ValueError where other axes differ.
[[nodiscard]] Array concatenate(const std::vector<Array>& arrays, std::int64_t axis = 0);
/// Joined along a new axis.
[[nodiscard]] Array stack(const std::vector<Array>& arrays, std::int64_t axis = 0);
/// `sections` equal parts (ValueError where it does not divide), or parts that begin at 0 and
/// `indices`.
[[nodiscard]] std::vector<Array> split(const Array& x, std::int64_t sections,
                                       std::int64_t axis = 0);
[[nodiscard]] std::vector<Array> split(const Array& x, const std::vector<std::int64_t>& indices,
                                       std::int64_t axis = 0);

/// Elements start, start + stride, ... before limit along every axis (lax.slice). Strides default
/// to 1.
[[nodiscard]] Array slice(const Array& x, const std::vector<std::int64_t>& starts,
                          const std::vector<std::int64_t>& limits,
                          const std::vector<std::int64_t>& strides = {});
/// The same along one axis; negative positions count from the end.
[[nodiscard]] Array slice_in_dim(const Array& x, std::int64_t start, std::int64_t limit,
                                 std::int64_t stride = 1, std::int64_t axis = 0);
/// Element `index` along `axis`, which goes. A negative index counts from the end. ValueError out
/// of range.
[[nodiscard]] Array index_in_dim(const Array& x, std::int64_t index, std::int64_t axis = 0);

/// How much one axis is padded. Negative low and high crop; interior goes between elements.
struct PaddingDimension {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t interior = 0;
  [[nodiscard]] bool operator==(const PaddingDimension&) const = default;
};
/// x with `value` (a scalar, converted to x's type) around and between; one entry for each axis.
[[nodiscard]] Array pad(const Array& x, const std::vector<PaddingDimension>& padding,
                        const Array& value = 0);
/// The elements in reverse order along all axes, or those named.
[[nodiscard]] Array flip(const Array& x, const AxisSet& axis = {});
/// x repeated as a whole, repeats[i] times along axis i (NumPy's rule for other ranks).
[[nodiscard]] Array tile(const Array& x, const Shape& repeats);
/// Each element `repeats` times in a row along `axis`.
[[nodiscard]] Array repeat(const Array& x, std::int64_t repeats, std::int64_t axis);
/// Elements moved `shift` places along `axis`, round the end.
[[nodiscard]] Array roll(const Array& x, std::int64_t shift, std::int64_t axis);
/// Zeros above (tril) or below (triu) the k-th diagonal of the last two axes.
[[nodiscard]] Array tril(const Array& x, std::int64_t k = 0);
[[nodiscard]] Array triu(const Array& x, std::int64_t k = 0);

/// The window of `sizes` that begins at `starts`, one integer scalar for each axis, which may be
/// computed. A negative start has the length added to it, then starts are clamped so that the
/// window fits.
[[nodiscard]] Array dynamic_slice(const Array& x, const std::vector<Array>& starts,
                                  const Shape& sizes);
/// x with the window at `starts` replaced by `update` (x's type). Starts as in dynamic_slice.
[[nodiscard]] Array dynamic_update_slice(const Array& x, const Array& update,
                                         const std::vector<Array>& starts);
/// The same along one axis.
[[nodiscard]] Array dynamic_slice_in_dim(const Array& x, const Array& start, std::int64_t size,
                                         std::int64_t axis = 0);
[[nodiscard]] Array dynamic_update_slice_in_dim(const Array& x, const Array& update,
                                                const Array& start, std::int64_t axis = 0);
/// One element along `axis`, at a computed index; the axis goes.
[[nodiscard]] Array dynamic_index_in_dim(const Array& x, const Array& index, std::int64_t axis = 0);

}  // namespace lockstep
