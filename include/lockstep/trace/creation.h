#pragma once
/// Ops that make arrays from nothing. None has a derivative.
#include <cstdint>
#include <optional>

#include "lockstep/array/array.h"

namespace lockstep {

/// Zeros of `shape`; the type is the default float (float32) unless given.
[[nodiscard]] Array zeros(const Shape& shape, std::optional<DType> dtype = {});
/// Ones of `shape`; the type is the default float unless given.
[[nodiscard]] Array ones(const Shape& shape, std::optional<DType> dtype = {});
/// `value`, a scalar or what broadcasts to `shape`, everywhere; the type is `value`'s unless given.
/// Linear in `value`.
[[nodiscard]] Array full(const Shape& shape, const Array& value, std::optional<DType> dtype = {});
/// Zeros, ones or `value` with the shape and type of `x` (the type may be another).
[[nodiscard]] Array zeros_like(const Array& x, std::optional<DType> dtype = {});
[[nodiscard]] Array ones_like(const Array& x, std::optional<DType> dtype = {});
[[nodiscard]] Array full_like(const Array& x, const Array& value, std::optional<DType> dtype = {});

/// 0, 1, ..., stop-1 as the default integer unless `dtype` is given.
[[nodiscard]] Array arange(std::int64_t stop, std::optional<DType> dtype = {});
/// start, start+step, ... before `stop`; `step` may be negative. ValueError for step 0.
[[nodiscard]] Array arange(std::int64_t start, std::int64_t stop, std::int64_t step = 1,
                           std::optional<DType> dtype = {});
/// The index along axis 0: lax.iota of shape (length,).
[[nodiscard]] Array iota(DType dtype, std::int64_t length);
/// The index along `dimension`, over `shape` (lax.broadcasted_iota). ValueError for a type that is
/// not a number.
[[nodiscard]] Array broadcasted_iota(DType dtype, const Shape& shape, std::int64_t dimension);
/// `num` evenly spaced numbers from `start` to `stop`, both included (`stop` not, without
/// `endpoint`).
struct LinspaceOptions {
  bool endpoint = true;
  std::optional<DType> dtype = {};
};
[[nodiscard]] Array linspace(double start, double stop, std::int64_t num = 50,
                             const LinspaceOptions& options = {});
/// n by m (m = n unless given) with ones on the k-th diagonal.
struct EyeOptions {
  std::optional<std::int64_t> m = {};
  std::int64_t k = 0;
  std::optional<DType> dtype = {};
};
[[nodiscard]] Array eye(std::int64_t n, const EyeOptions& options = {});
/// n by m with ones at and below the k-th diagonal.
[[nodiscard]] Array tri(std::int64_t n, const EyeOptions& options = {});

}  // namespace lockstep
