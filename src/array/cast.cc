// Conversion between element types: decode to the widest type of the source's kind, encode from it.
#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "array/small_float.h"
#include "lockstep/array/host_tensor.h"

namespace lockstep {
namespace {

using array_internal::decode;
using array_internal::encode;
using array_internal::small_float;

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class Wide, class T>
void decode_all(const std::byte* source, std::span<Wide> wide) {
  for (std::size_t i = 0; i < wide.size(); ++i) {
    wide[i] = static_cast<Wide>(load<T>(source + i * sizeof(T)));
  }
}

// Signed integers narrower than a byte are read from their low bits.
void decode_narrow(const std::byte* source, std::span<std::int64_t> wide, int bits,
                   bool is_signed) {
  const int high = 8 - bits;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const auto byte = std::to_integer<std::uint8_t>(source[i]);
    const auto shifted = static_cast<std::uint8_t>(byte << high);
    wide[i] = is_signed ? static_cast<std::int8_t>(shifted) >> high : shifted >> high;
  }
}

void decode_floats(DType dtype, const std::byte* source, std::span<double> wide) {
  switch (dtype) {
    case DType::Float32: return decode_all<double, float>(source, wide);
    case DType::Float64: return decode_all<double, double>(source, wide);
    case DType::BFloat16:
      for (std::size_t i = 0; i < wide.size(); ++i) {
        wide[i] = static_cast<double>(static_cast<float>(load<BFloat16>(source + 2 * i)));
      }
      return;
    default: {
      const auto format = small_float(dtype);
      const std::uint32_t mask = (std::uint32_t{1} << (bit_width(dtype) % 32)) -
                                 1;  // a narrow float uses part of its byte
      for (std::size_t i = 0; i < wide.size(); ++i) {
        const std::uint32_t bits = byte_size(dtype) == 2
                                       ? load<std::uint16_t>(source + 2 * i)
                                       : std::to_integer<std::uint32_t>(source[i]);
        wide[i] = decode(format, bits & mask);
      }
    }
  }
}

void decode_integers(DType dtype, const std::byte* source, std::span<std::int64_t> wide) {
  switch (dtype) {
    case DType::Bool: return decode_all<std::int64_t, std::uint8_t>(source, wide);
    case DType::Int8: return decode_all<std::int64_t, std::int8_t>(source, wide);
    case DType::Int16: return decode_all<std::int64_t, std::int16_t>(source, wide);
    case DType::Int32: return decode_all<std::int64_t, std::int32_t>(source, wide);
    case DType::Int64: return decode_all<std::int64_t, std::int64_t>(source, wide);
    case DType::UInt8: return decode_all<std::int64_t, std::uint8_t>(source, wide);
    case DType::UInt16: return decode_all<std::int64_t, std::uint16_t>(source, wide);
    case DType::UInt32: return decode_all<std::int64_t, std::uint32_t>(source, wide);
    default: return decode_narrow(source, wide, bit_width(dtype), is_signed_integer(dtype));
  }
}

// Truncation towards zero; what does not fit in 64 bits becomes the nearest end, NaN becomes zero,
// so that no input is undefined.
template <class Integer>
Integer truncate(double value) {
  constexpr double past_end = std::is_signed_v<Integer> ? 0x1p63 : 0x1p64;
  if (std::isnan(value)) return 0;
  if (value >= past_end) return std::numeric_limits<Integer>::max();
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min())) {
    return std::numeric_limits<Integer>::min();
  }
  return static_cast<Integer>(value);
}

template <class Wide>
double real_part(Wide value) {
  if constexpr (std::same_as<Wide, std::complex<double>>) {
    return value.real();
  } else {
    return static_cast<double>(value);
  }
}

// As float, rounded once: by way of double a 64-bit integer would be rounded twice.
template <class Wide>
float as_float(Wide value) {
  if constexpr (std::is_integral_v<Wide>) {
    return static_cast<float>(value);
  } else {
    return static_cast<float>(real_part(value));
  }
}

template <class Integer, class Wide>
Integer low_bits(Wide value) {
  if constexpr (std::is_integral_v<Wide>) {
    return static_cast<Integer>(value);
  } else if (sizeof(Integer) == 8 && std::is_unsigned_v<Integer> && real_part(value) > 0) {
    return static_cast<Integer>(truncate<std::uint64_t>(real_part(value)));
  } else {
    return static_cast<Integer>(truncate<std::int64_t>(real_part(value)));
  }
}

template <class T, class Wide, class Convert>
void encode_all(std::span<const Wide> wide, std::byte* destination, Convert convert) {
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const T value = convert(wide[i]);
    std::memcpy(destination + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T, class Wide>
void encode_integers(std::span<const Wide> wide, std::byte* destination) {
  encode_all<T>(wide, destination, [](Wide value) { return low_bits<T>(value); });
}

template <class Wide>
void encode_to(DType dtype, std::span<const Wide> wide, std::byte* destination) {
  switch (dtype) {
    case DType::Bool:
      return encode_all<bool>(wide, destination, [](Wide value) { return value != Wide(0); });
    case DType::Int8: return encode_integers<std::int8_t>(wide, destination);
    case DType::Int16: return encode_integers<std::int16_t>(wide, destination);
    case DType::Int32: return encode_integers<std::int32_t>(wide, destination);
    case DType::Int64: return encode_integers<std::int64_t>(wide, destination);
    case DType::UInt8: return encode_integers<std::uint8_t>(wide, destination);
    case DType::UInt16: return encode_integers<std::uint16_t>(wide, destination);
    case DType::UInt32: return encode_integers<std::uint32_t>(wide, destination);
    case DType::UInt64: return encode_integers<std::uint64_t>(wide, destination);
    case DType::Int1:
    case DType::Int2:
    case DType::Int4:
    case DType::UInt1:
    case DType::UInt2:
    case DType::UInt4: {
      const int high = 8 - bit_width(dtype);
      const bool is_signed = is_signed_integer(dtype);
      return encode_all<std::uint8_t>(wide, destination, [high, is_signed](Wide value) {
        const auto shifted = static_cast<std::uint8_t>(low_bits<std::uint8_t>(value) << high);
        // The sign fills the byte, as in ml_dtypes.
        return is_signed ? static_cast<std::uint8_t>(static_cast<std::int8_t>(shifted) >> high)
                         : static_cast<std::uint8_t>(shifted >> high);
      });
    }
    case DType::BFloat16:
    case DType::Float16: {
      const auto format = small_float(dtype);
      return encode_all<std::uint16_t>(wide, destination, [format](Wide value) {
        return static_cast<std::uint16_t>(encode(format, real_part(value)));
      });
    }
    case DType::Float32:
      return encode_all<float>(wide, destination, [](Wide value) { return as_float(value); });
    case DType::Float64:
      return encode_all<double>(wide, destination, [](Wide value) { return real_part(value); });
    case DType::Complex64:
      return encode_all<std::complex<float>>(wide, destination, [](Wide value) {
        if constexpr (std::same_as<Wide, std::complex<double>>) {
          return std::complex<float>(value);
        } else {
          return std::complex<float>(as_float(value), 0.0F);
        }
      });
    case DType::Complex128:
      return encode_all<std::complex<double>>(wide, destination, [](Wide value) {
        if constexpr (std::same_as<Wide, std::complex<double>>) return value;
        return std::complex<double>(real_part(value), 0.0);
      });
    default: {
      const auto format = small_float(dtype);
      return encode_all<std::uint8_t>(wide, destination, [format](Wide value) {
        return static_cast<std::uint8_t>(encode(format, real_part(value)));
      });
    }
  }
}

// In pieces, so that the wide values stay in the cache.
template <class Wide, class Decode>
void convert(std::int64_t count, const std::byte* source, std::size_t source_size, DType dtype,
             std::byte* destination, Decode decode_piece) {
  constexpr std::int64_t piece = 1024;
  Wide wide[piece];
  for (std::int64_t begin = 0; begin < count; begin += piece) {
    const auto length = static_cast<std::size_t>(std::min(piece, count - begin));
    const auto offset = static_cast<std::size_t>(begin);
    decode_piece(source + offset * source_size, std::span<Wide>(wide, length));
    encode_to<Wide>(dtype, std::span<const Wide>(wide, length),
                    destination + offset * byte_size(dtype));
  }
}

}  // namespace

HostTensor cast(const HostTensor& tensor, DType dtype) {
  if (dtype == tensor.dtype()) return tensor;
  const HostTensor source = tensor.contiguous();
  HostTensor result = HostTensor::empty(dtype, source.shape());
  std::byte* const destination = result.mutable_bytes();
  const DType from = source.dtype();
  const auto run = [&]<class Wide>(Wide /*tag*/, auto decode_piece) {
    convert<Wide>(source.size(), source.data(), byte_size(from), dtype, destination, decode_piece);
  };
  if (from == DType::Complex64) {
    run(std::complex<double>(), decode_all<std::complex<double>, std::complex<float>>);
  } else if (from == DType::Complex128) {
    run(std::complex<double>(), decode_all<std::complex<double>, std::complex<double>>);
  } else if (from == DType::UInt64) {
    run(std::uint64_t{}, decode_all<std::uint64_t, std::uint64_t>);
  } else if (is_floating(from)) {
    run(double{}, [from](const std::byte* bytes, std::span<double> wide) {
      decode_floats(from, bytes, wide);
    });
  } else {
    run(std::int64_t{}, [from](const std::byte* bytes, std::span<std::int64_t> wide) {
      decode_integers(from, bytes, wide);
    });
  }
  return result;
}

}  // namespace lockstep
