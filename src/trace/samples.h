#pragma once
// Random samples of primitives, for the registry.
#include <cstdint>
#include <vector>

#include "lockstep/trace/registry.h"

namespace lockstep {

// A small deterministic generator (splitmix64).
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : state_(seed) {}
  // An integer in [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high);
  // `ndim` lengths in [low, high].
  Shape shape(std::int64_t ndim, std::int64_t low = 1, std::int64_t high = 4);

 private:
  std::uint64_t state_;
};

inline AbstractValue of_type(DType dtype, Shape shape) {
  return {.shape = std::move(shape), .dtype = dtype};
}
inline AbstractValue f64(Shape shape) {
  return of_type(DType::Float64, std::move(shape));
}

// Each family adds its kinds.
void add_unary_kinds(std::vector<PrimitiveKind>& kinds);
void add_binary_kinds(std::vector<PrimitiveKind>& kinds);
void add_compare_select_kinds(std::vector<PrimitiveKind>& kinds);
void add_convert_kinds(std::vector<PrimitiveKind>& kinds);
void add_constant_kinds(std::vector<PrimitiveKind>& kinds);
void add_broadcast_kinds(std::vector<PrimitiveKind>& kinds);
void add_rearrange_kinds(std::vector<PrimitiveKind>& kinds);
void add_slice_kinds(std::vector<PrimitiveKind>& kinds);
void add_dynamic_slice_kinds(std::vector<PrimitiveKind>& kinds);
void add_reduce_kinds(std::vector<PrimitiveKind>& kinds);
void add_argmax_kinds(std::vector<PrimitiveKind>& kinds);
void add_cumsum_kinds(std::vector<PrimitiveKind>& kinds);
void add_window_kinds(std::vector<PrimitiveKind>& kinds);
void add_dot_general_kinds(std::vector<PrimitiveKind>& kinds);
void add_convolution_kinds(std::vector<PrimitiveKind>& kinds);
void add_gather_scatter_kinds(std::vector<PrimitiveKind>& kinds);
void add_identity_kinds(std::vector<PrimitiveKind>& kinds);
void add_optimization_barrier_kinds(std::vector<PrimitiveKind>& kinds);
void add_threefry_kinds(std::vector<PrimitiveKind>& kinds);

}  // namespace lockstep
