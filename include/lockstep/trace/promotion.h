#pragma once
/// Which type an op on several types has: JAX's promotion lattice, with weak types for literals.
#include <span>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep {

/// Width of the types nobody named: of literals, `arange`, index results and accumulators.
enum class DefaultWidth { Bits32, Bits64 };

/// This thread's default width; 32 bits outside every scope.
[[nodiscard]] DefaultWidth default_width();

/// Sets this thread's default width until the scope ends. With 64 bits the library agrees with JAX
/// under jax_enable_x64. Unlike there, 64-bit types always exist; only defaults change.
class DefaultWidthScope {
 public:
  explicit DefaultWidthScope(DefaultWidth width);
  ~DefaultWidthScope();
  DefaultWidthScope(const DefaultWidthScope&) = delete;
  DefaultWidthScope& operator=(const DefaultWidthScope&) = delete;

 private:
  DefaultWidth previous_;
};

[[nodiscard]] DType default_float_dtype();    ///< float32 or float64
[[nodiscard]] DType default_int_dtype();      ///< int32 or int64
[[nodiscard]] DType default_uint_dtype();     ///< uint32 or uint64
[[nodiscard]] DType default_complex_dtype();  ///< complex64 or complex128

/// A type and whether it is weak: a weak integer takes any integer or floating type it meets, a
/// weak float any floating type.
struct PromotedType {
  DType dtype = DType::Float32;
  bool weak_type = false;
  [[nodiscard]] bool operator==(const PromotedType&) const = default;
};

/// Least upper bound in JAX's lattice. ValueError where there is none (8-bit floats meet other
/// floats only by an explicit astype). With the 32-bit default, uint32 with int32 is int32, as in
/// JAX.
[[nodiscard]] PromotedType promote_types(PromotedType a, PromotedType b);
[[nodiscard]] DType promote_types(DType a, DType b);

/// The type an op on `arrays` has.
[[nodiscard]] PromotedType result_type(std::span<const Array> arrays);

/// The floating type that functions such as sqrt give for an argument of `type`: itself if floating
/// or complex, float64 for 64-bit integers, float32 for others, the default float for literals.
[[nodiscard]] PromotedType to_inexact(PromotedType type);

/// `arrays` converted to their common type and broadcast to their common shape (NumPy's rule).
/// ValueError "[where] ..." naming both shapes where there is none.
[[nodiscard]] std::vector<Array> promote_and_broadcast(std::string_view where,
                                                       std::span<const Array> arrays);

/// The shape that `shapes` broadcast to; ValueError "[where] ..." where they do not.
[[nodiscard]] Shape broadcast_shapes(std::string_view where, std::span<const Shape> shapes);

}  // namespace lockstep
