#include "lockstep/trace/registry.h"

#include <algorithm>

#include "trace/samples.h"

namespace lockstep {

std::int64_t Sampler::integer(std::int64_t low, std::int64_t high) {
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return low + static_cast<std::int64_t>(z % static_cast<std::uint64_t>(high - low + 1));
}

Shape Sampler::shape(std::int64_t ndim, std::int64_t low, std::int64_t high) {
  Shape shape;
  for (std::int64_t i = 0; i < ndim; ++i) shape.push_back(integer(low, high));
  return shape;
}

const std::vector<PrimitiveKind>& primitive_kinds() {
  static const std::vector<PrimitiveKind> kinds = [] {
    std::vector<PrimitiveKind> all;
    add_unary_kinds(all);
    add_binary_kinds(all);
    add_compare_select_kinds(all);
    add_convert_kinds(all);
    add_constant_kinds(all);
    add_broadcast_kinds(all);
    add_rearrange_kinds(all);
    add_slice_kinds(all);
    add_dynamic_slice_kinds(all);
    add_reduce_kinds(all);
    add_argmax_kinds(all);
    add_cumsum_kinds(all);
    add_window_kinds(all);
    add_dot_general_kinds(all);
    add_convolution_kinds(all);
    add_gather_scatter_kinds(all);
    add_identity_kinds(all);
    add_optimization_barrier_kinds(all);
    add_threefry_kinds(all);
    std::sort(all.begin(), all.end(),
              [](const PrimitiveKind& a, const PrimitiveKind& b) { return a.name < b.name; });
    return all;
  }();
  return kinds;
}

}  // namespace lockstep
