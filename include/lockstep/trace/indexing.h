#pragma once
/// Reading and writing at computed places.
#include <cstdint>
#include <optional>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep {

/// What an index out of range does. Fill: NaN (integers: the least value, unsigned: the greatest),
/// after a negative index had the length added; Clip: the nearest valid index, -1 being 0.
enum class IndexMode { Fill, Clip };

struct TakeOptions {
  std::optional<std::int64_t> axis = {};  ///< without one, x is taken as flat
  IndexMode mode = IndexMode::Fill;
};
/// x at `indices` (integers of any shape, whose axes replace `axis`). The gradient adds each
/// cotangent at its index; filled elements give none.
[[nodiscard]] Array take(const Array& x, const Array& indices, const TakeOptions& options = {});

/// out[i, j, ...] = x at indices[i, j, ...] along `axis`, the other indices being the element's
/// own. `x` and `indices` have equally many axes, which broadcast outside `axis`.
struct TakeAlongAxisOptions {
  IndexMode mode = IndexMode::Fill;
};
[[nodiscard]] Array take_along_axis(const Array& x, const Array& indices, std::int64_t axis,
                                    const TakeAlongAxisOptions& options = {});

/// A new axis of `num_classes` with 1 at the index and 0 elsewhere; all zeros for an index out of
/// range. No derivative.
struct OneHotOptions {
  std::int64_t axis = -1;           ///< place of the new axis in the result
  std::optional<DType> dtype = {};  ///< the default float unless given
};
[[nodiscard]] Array one_hot(const Array& indices, std::int64_t num_classes,
                            const OneHotOptions& options = {});

/// Dimension numbers of gather and scatter, as StableHLO and lax have them. The last axis of the
/// indices holds the index vectors.
struct GatherDimensionNumbers {
  std::vector<std::int64_t> offset_dims = {};
  std::vector<std::int64_t> collapsed_slice_dims = {};
  std::vector<std::int64_t> start_index_map = {};
  std::vector<std::int64_t> operand_batching_dims = {};
  std::vector<std::int64_t> start_indices_batching_dims = {};
  [[nodiscard]] bool operator==(const GatherDimensionNumbers&) const = default;
};
/// Slices of `slice_sizes` of the operand, one for each index vector; starts are clamped so that
/// each slice fits. Linear in the operand; its gradient is a scatter_add.
[[nodiscard]] Array gather(const Array& operand, const Array& start_indices,
                           const GatherDimensionNumbers& dimensions, const Shape& slice_sizes);

struct ScatterDimensionNumbers {
  std::vector<std::int64_t> update_window_dims = {};
  std::vector<std::int64_t> inserted_window_dims = {};
  std::vector<std::int64_t> scatter_dims_to_operand_dims = {};
  std::vector<std::int64_t> operand_batching_dims = {};
  std::vector<std::int64_t> scatter_indices_batching_dims = {};
  [[nodiscard]] bool operator==(const ScatterDimensionNumbers&) const = default;
};
/// The operand with each update window added at its index vector. Windows that do not fit are
/// dropped, and their gradient is 0. Linear in operand and updates.
[[nodiscard]] Array scatter_add(const Array& operand, const Array& indices, const Array& updates,
                                const ScatterDimensionNumbers& dimensions);
/// x with `values` added at `indices` along axis 0: x.at[indices].add(values). Indices out of range
/// are dropped; negative ones count from the end. `values` broadcasts to indices.shape +
/// x.shape[1:].
[[nodiscard]] Array at_add(const Array& x, const Array& indices, const Array& values);

}  // namespace lockstep
