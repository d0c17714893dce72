#pragma once
/// Which axes an op works on.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace lockstep {

/// All axes, one, or several: `{}`, `-1`, `{0, 1}`. Negative axes count from the end.
class AxisSet {
 public:
  AxisSet() = default;                                       ///< All axes (JAX's None).
  AxisSet(std::integral auto axis) : axes_(std::in_place) {  // NOLINT: one axis is a set of axes
    axes_->push_back(static_cast<std::int64_t>(axis));
  }
  AxisSet(std::initializer_list<std::int64_t> axes) : axes_(axes) {}   // NOLINT
  AxisSet(std::vector<std::int64_t> axes) : axes_(std::move(axes)) {}  // NOLINT

  [[nodiscard]] bool is_all() const { return !axes_.has_value(); }
  /// How many are named; 0 for all.
  [[nodiscard]] std::size_t size() const { return axes_ ? axes_->size() : 0; }
  /// The axes as non-negative numbers in rising order. ValueError "[where] ..." for an axis out of
  /// range for `ndim` dimensions and for one that is named twice.
  [[nodiscard]] std::vector<std::int64_t> normalized(std::string_view where,
                                                     std::int64_t ndim) const;

 private:
  std::optional<std::vector<std::int64_t>> axes_;
};

/// `axis` as a non-negative number; ValueError "[where] ..." where it is not in [-ndim, ndim).
[[nodiscard]] std::int64_t normalize_axis(std::string_view where, std::int64_t axis,
                                          std::int64_t ndim);

}  // namespace lockstep
