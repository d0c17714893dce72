#pragma once
/// Random numbers from explicit keys, equal to JAX's bit for bit (threefry2x32, the partitionable
/// variant: element i depends on the key and i only, so a shorter draw is a prefix of a longer one,
/// and a draw may be split over devices without changing).
///
/// The hash is Threefry-2x32 with 20 rounds: Salmon, Moraes, Dror and Shaw, "Parallel random
/// numbers: as easy as 1, 2, 3", SC 2011. No function of a key has a derivative by it.
#include <cstdint>

#include "lockstep/array/array.h"
#include "lockstep/trace/function_traits.h"

namespace lockstep::random {

/// A key: what a draw depends on. A draw does not change it, so use each key once; make others with
/// split and fold_in. Works inside and outside a trace, and as a leaf (its data) of a tree.
class Key {
 public:
  /// ValueError unless `data` is uint32 of shape (2,).
  explicit Key(Array data);
  /// The key's two words, uint32 of shape (2,).
  [[nodiscard]] const Array& data() const { return data_; }

 private:
  Array data_;
};

/// The key of a seed: the words are its high and its low 32 bits.
[[nodiscard]] Key key(std::uint64_t seed);

/// `num` independent keys. ValueError for a negative number.
[[nodiscard]] std::vector<Key> split(const Key& key, std::int64_t num = 2);
/// The same keys as one uint32 array of shape (num, 2).
[[nodiscard]] Array split_data(const Key& key, std::int64_t num = 2);

/// A key that depends on `key` and `data`, an integer scalar of which the low 32 bits count.
[[nodiscard]] Key fold_in(const Key& key, const Array& data);

/// Random bits of an unsigned type of 8 to 64 bits; ValueError for another type.
[[nodiscard]] Array bits(const Key& key, const Shape& shape, DType dtype = DType::UInt32);

/// Uniform in [minval, maxval), scalars or what broadcasts to `shape`. ValueError unless `dtype` is
/// bfloat16, float16, float32 or float64. Linear in minval and maxval.
[[nodiscard]] Array uniform(const Key& key, const Shape& shape, DType dtype = DType::Float32,
                            const Array& minval = 0.0, const Array& maxval = 1.0);

/// Normal with mean 0 and variance 1: sqrt(2) erf_inv of a uniform in (-1, 1).
[[nodiscard]] Array normal(const Key& key, const Shape& shape, DType dtype = DType::Float32);

/// Normal with mean 0 and variance 1 conditioned on (lower, upper).
[[nodiscard]] Array truncated_normal(const Key& key, double lower, double upper, const Shape& shape,
                                     DType dtype = DType::Float32);

/// Integers in [minval, maxval); minval throughout where maxval is not larger. Slightly biased
/// where the span is no power of two, as JAX's. ValueError for bounds that `dtype` cannot hold
/// (maxval may be one more than its largest), or a type that is no integer of 8 to 64 bits.
[[nodiscard]] Array randint(const Key& key, const Shape& shape, std::int64_t minval,
                            std::int64_t maxval, DType dtype = DType::Int32);

/// True with probability p (a number or an array that broadcasts to `shape`): uniform < p.
[[nodiscard]] Array bernoulli(const Key& key, const Array& p, const Shape& shape);

}  // namespace lockstep::random

namespace lockstep {

/// A key is the leaf of its data.
template <>
struct TreeConversion<random::Key> {
  [[nodiscard]] static Tree to_tree(const random::Key& key) { return key.data(); }
  [[nodiscard]] static random::Key from_tree(const Tree& tree) { return random::Key(tree.leaf()); }
};

}  // namespace lockstep
