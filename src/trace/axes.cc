#include "lockstep/trace/axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "trace/rule_support.h"

namespace lockstep {

std::int64_t normalize_axis(std::string_view where, std::int64_t axis, std::int64_t ndim) {
  if (axis >= -ndim && axis < ndim) return axis < 0 ? axis + ndim : axis;
  throw_value_error(
      where, ndim == 0 ? fmt::format("axis {} is out of range: the array is a scalar", axis)
                       : fmt::format("axis {} is out of range for an array with {} axes; it may "
                                     "be {} to {}",
                                     axis, ndim, -ndim, ndim - 1));
}

std::vector<std::int64_t> AxisSet::normalized(std::string_view where, std::int64_t ndim) const {
  if (is_all()) return range(ndim);
  std::vector<std::int64_t> axes;
  for (const std::int64_t axis : *axes_) axes.push_back(normalize_axis(where, axis, ndim));
  std::sort(axes.begin(), axes.end());
  if (const auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end()) {
    throw_value_error(where, fmt::format("axis {} is named twice in ({})", *twice, join(*axes_)));
  }
  return axes;
}

}  // namespace lockstep
