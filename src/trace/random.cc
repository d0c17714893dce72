#include "lockstep/trace/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/shape_ops.h"
#include "trace/primitives.h"

namespace lockstep::random {
namespace {

int width_of(DType dtype) {
  return static_cast<int>(8 * byte_size(dtype));
}

DType unsigned_of(int width) {
  switch (width) {
    case 8: return DType::UInt8;
    case 16: return DType::UInt16;
    case 32: return DType::UInt32;
    default: return DType::UInt64;
  }
}

// Bits of the fraction of a floating type, and the bits of its 1.0.
struct FloatLayout {
  int fraction_bits;
  std::uint64_t one;
};

FloatLayout layout_of(std::string_view where, DType dtype) {
  switch (dtype) {
    case DType::BFloat16: return {7, 0x3F80};
    case DType::Float16: return {10, 0x3C00};
    case DType::Float32: return {23, 0x3F800000};
    case DType::Float64: return {52, 0x3FF0000000000000};
    default:
      throw_value_error(where,
                        fmt::format("draws are of bfloat16, float16, float32 or float64, not {}",
                                    to_string(dtype)));
  }
}

Array constant_of(DType dtype, std::uint64_t value) {
  switch (dtype) {
    case DType::UInt8: return HostTensor::scalar(static_cast<std::uint8_t>(value));
    case DType::UInt16: return HostTensor::scalar(static_cast<std::uint16_t>(value));
    case DType::UInt32: return HostTensor::scalar(static_cast<std::uint32_t>(value));
    default: return HostTensor::scalar(value);
  }
}

// The 64-bit numbers 0, 1, ... of the elements, as high and low words.
std::pair<Array, Array> counters(const Shape& shape) {
  const std::int64_t size = num_elements(shape);
  if (size <= std::numeric_limits<std::uint32_t>::max()) {
    return {zeros(shape, DType::UInt32), reshape(iota(DType::UInt32, size), shape)};
  }
  const Array index = reshape(iota(DType::UInt64, size), shape);
  return {astype(right_shift_logical(index, constant_of(DType::UInt64, 32)), DType::UInt32),
          astype(index, DType::UInt32)};
}

std::pair<Array, Array> hash(const Key& key, const Array& high, const Array& low) {
  std::vector<Array> words =
      lockstep::apply(primitives::threefry2x32(), std::vector<Array>{key.data(), high, low});
  return {std::move(words[0]), std::move(words[1])};
}

// The neighbour of `value` in the direction of `towards`, in `dtype`.
double next_after(double value, double towards, DType dtype) {
  if (dtype == DType::Float64) return std::nextafter(value, towards);
  if (dtype == DType::Float32) {
    return std::nextafter(static_cast<float>(value), static_cast<float>(towards));
  }
  // The 16-bit types: one step of the last bit. Sign and magnitude order the bits of one sign.
  const auto step = [&](auto number) {
    const bool away_from_zero =
        (static_cast<float>(number) > 0) == (towards > static_cast<float>(number));
    number.bits = static_cast<std::uint16_t>(number.bits + (away_from_zero ? 1 : -1));
    return static_cast<double>(static_cast<float>(number));
  };
  return dtype == DType::BFloat16 ? step(BFloat16(static_cast<float>(value)))
                                  : step(Float16(static_cast<float>(value)));
}

Array floating(DType dtype, double value) {
  return full({}, value, dtype);
}

struct IntegerRange {
  std::int64_t least;
  std::uint64_t largest;
};

IntegerRange range_of(DType dtype) {
  const int width = width_of(dtype);
  if (is_unsigned_integer(dtype)) {
    return {0, width == 64 ? std::numeric_limits<std::uint64_t>::max()
                           : (std::uint64_t{1} << width) - 1};
  }
  const std::uint64_t largest = (std::uint64_t{1} << (width - 1)) - 1;
  return {-static_cast<std::int64_t>(largest) - 1, largest};
}

}  // namespace

Key::Key(Array data) : data_(std::move(data)) {
  if (!data_.is_null() && data_.dtype() == DType::UInt32 && data_.shape() == Shape{2}) return;
  throw_value_error(
      "random::Key",
      fmt::format("a key is uint32[2], but this is {}; make one with random::key",
                  data_.is_null() ? "an unassigned Array" : to_string(data_.abstract_value())));
}

Key key(std::uint64_t seed) {
  const std::vector<std::uint32_t> words{static_cast<std::uint32_t>(seed >> 32),
                                         static_cast<std::uint32_t>(seed)};
  return Key(HostTensor::from(words, {2}));
}

Array split_data(const Key& key, std::int64_t num) {
  if (num < 0)
    throw_value_error("random::split",
                      fmt::format("the number of keys is {}; expected 0 or more", num));
  const auto [high, low] = counters({num});
  const auto [first, second] = hash(key, high, low);
  return stack({first, second}, 1);
}

std::vector<Key> split(const Key& key, std::int64_t num) {
  const Array data = split_data(key, num);
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(num));
  for (std::int64_t i = 0; i < num; ++i) keys.emplace_back(index_in_dim(data, i));
  return keys;
}

Key fold_in(const Key& key, const Array& data) {
  if (data.ndim() != 0 || !is_integer(data.dtype())) {
    throw_value_error("random::fold_in",
                      fmt::format("the data must be an integer scalar, but it is {}",
                                  to_string(data.abstract_value())));
  }
  // A literal is taken as the 64-bit number it is, of which the low bits count too.
  const Array number = data.weak_type() ? astype(data, DType::Int64) : data;
  const Array low = reshape(astype(number, DType::UInt32), {1});
  const auto [first, second] = hash(key, zeros({1}, DType::UInt32), low);
  return Key(concatenate({first, second}));
}

Array bits(const Key& key, const Shape& shape, DType dtype) {
  if (!is_unsigned_integer(dtype) || bit_width(dtype) < 8) {
    throw_value_error(
        "random::bits",
        fmt::format("bits are of uint8, uint16, uint32 or uint64, not {}", to_string(dtype)));
  }
  const auto [counter_high, counter_low] = counters(shape);
  const auto [high, low] = hash(key, counter_high, counter_low);
  if (dtype == DType::UInt64) {
    return bitwise_or(left_shift(astype(high, dtype), constant_of(dtype, 32)), astype(low, dtype));
  }
  const Array mixed = bitwise_xor(high, low);
  return dtype == DType::UInt32 ? mixed : astype(mixed, dtype);
}

Array uniform(const Key& key, const Shape& shape, DType dtype, const Array& minval,
              const Array& maxval) {
  const FloatLayout layout = layout_of("random::uniform", dtype);
  const int width = width_of(dtype);
  // Short fractions are drawn from bytes, as in JAX.
  const int drawn = layout.fraction_bits < 8 ? 8 : width;
  const DType word = unsigned_of(width);
  const Array raw = astype(bits(key, shape, unsigned_of(drawn)), word);
  const Array fraction = right_shift_logical(
      raw, constant_of(word, static_cast<std::uint64_t>(drawn - layout.fraction_bits)));
  const Array in_one_to_two =
      bitcast_convert_type(bitwise_or(fraction, constant_of(word, layout.one)), dtype);
  const Array unit = in_one_to_two - floating(dtype, 1.0);
  const Array low = astype(minval, dtype);
  const Array high = astype(maxval, dtype);
  return maximum(low, unit * (high - low) + low);
}

Array normal(const Key& key, const Shape& shape, DType dtype) {
  static_cast<void>(layout_of("random::normal", dtype));
  const Array unit = uniform(key, shape, dtype, next_after(-1.0, 0.0, dtype), 1.0);
  return floating(dtype, std::sqrt(2.0)) * erf_inv(unit);
}

Array truncated_normal(const Key& key, double lower, double upper, const Shape& shape,
                       DType dtype) {
  static_cast<void>(layout_of("random::truncated_normal", dtype));
  if (!(lower < upper)) {
    throw_value_error(
        "random::truncated_normal",
        fmt::format("lower is {} and upper {}; expected lower < upper", lower, upper));
  }
  const Array root_of_two = floating(dtype, std::sqrt(2.0));
  const Array low = erf(floating(dtype, lower) / root_of_two);
  const Array high = erf(floating(dtype, upper) / root_of_two);
  const Array draw = root_of_two * erf_inv(uniform(key, shape, dtype, low, high));
  const double infinity = std::numeric_limits<double>::infinity();
  return clip(draw, floating(dtype, next_after(lower, infinity, dtype)),
              floating(dtype, next_after(upper, -infinity, dtype)));
}

Array randint(const Key& key, const Shape& shape, std::int64_t minval, std::int64_t maxval,
              DType dtype) {
  if (!is_integer(dtype) || bit_width(dtype) < 8) {
    throw_value_error(
        "random::randint",
        fmt::format("draws are of integers of 8 to 64 bits, not {}", to_string(dtype)));
  }
  const IntegerRange range = range_of(dtype);
  const bool fits = minval >= range.least &&
                    (minval < 0 || static_cast<std::uint64_t>(minval) <= range.largest) &&
                    maxval >= range.least &&
                    (maxval <= 0 || static_cast<std::uint64_t>(maxval) - 1 <= range.largest);
  if (!fits) {
    throw_value_error("random::randint",
                      fmt::format("[{}, {}) does not fit into {}, which holds {} to {}", minval,
                                  maxval, to_string(dtype), range.least, range.largest));
  }
  const int width = width_of(dtype);
  // Narrow integers are drawn with 32 bits, which keeps the bias of spans that are no power of two
  // small; as in JAX.
  if (width < 32) return astype(randint(key, shape, minval, maxval, DType::Int32), dtype);
  const DType word = unsigned_of(width);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::vector<Key> keys = split(key);
  const Array higher = bits(keys[0], shape, word);
  const Array lower = bits(keys[1], shape, word);
  // A span of 2^width wraps to 0; the bits are the answer then.
  const std::uint64_t span =
      maxval > minval
          ? (static_cast<std::uint64_t>(maxval) - static_cast<std::uint64_t>(minval)) & mask
          : 1;
  Array offset = lower;
  if (span != 0) {
    const Array span_array = constant_of(word, span);
    // 2^width modulo span, computed without 2^width.
    const std::uint64_t half = (std::uint64_t{1} << (width / 2)) % span;
    const std::uint64_t multiplier = ((half * half) & mask) % span;
    offset = rem(rem(higher, span_array) * constant_of(word, multiplier) + rem(lower, span_array),
                 span_array);
  }
  return astype(constant_of(word, static_cast<std::uint64_t>(minval) & mask) + offset, dtype);
}

Array bernoulli(const Key& key, const Array& p, const Shape& shape) {
  const DType dtype = is_floating(p.dtype()) ? p.dtype() : DType::Float32;
  return less(uniform(key, shape, dtype), astype(p, dtype));
}

}  // namespace lockstep::random
