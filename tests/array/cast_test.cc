#include <bit>
#include <cmath>
#include <limits>

#include "array_test_support.h"
#include "expected_casts.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;

template <class To, class From>
std::vector<To> cast_values(const std::vector<From>& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  const HostTensor result = cast(HostTensor::from(values, {size}), dtype_of<To>);
  const auto span = result.values<To>();
  return {span.begin(), span.end()};
}

// The elements' bits.
std::vector<std::uint32_t> bits_of(const HostTensor& tensor) {
  const auto bytes = tensor.values<std::byte>();
  std::vector<std::uint32_t> bits;
  for (std::size_t i = 0; i < bytes.size(); i += byte_size(tensor.dtype())) {
    std::uint32_t value = std::to_integer<std::uint32_t>(bytes[i]);
    if (byte_size(tensor.dtype()) == 2) {
      value |= std::to_integer<std::uint32_t>(bytes[i + 1]) << 8;
    }
    bits.push_back(value);
  }
  return bits;
}

// As in make_expected_casts.py.
class Fnv {
 public:
  void add(std::uint64_t value) { state_ = (state_ ^ value) * 0x100000001B3; }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325;
};

class SmallFloats : public ::testing::TestWithParam<ExpectedCasts> {
 protected:
  [[nodiscard]] static DType dtype() { return dtype_from_string(GetParam().name); }
};
INSTANTIATE_TEST_SUITE_P(Cast, SmallFloats, ::testing::ValuesIn(expected_casts),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(SmallFloats, EdgesRoundAsInMlDtypes) {
  const auto size = static_cast<std::int64_t>(cast_edges.size());
  const auto bits = bits_of(cast(HostTensor::from(cast_edges, {size}), dtype()));
  ASSERT_EQ(bits.size(), GetParam().edge_bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    EXPECT_EQ(bits[i], GetParam().edge_bits[i]) << cast_edges[i];
  }
}

TEST_P(SmallFloats, AllFloatsRoundAsInMlDtypes) {
  Fnv hash;
  for (const std::uint32_t tail : cast_tails) {
    std::vector<float> values;
    for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
      const auto value = std::bit_cast<float>(upper << 16 | tail);
      if (!std::isnan(value)) values.push_back(value);
    }
    const auto size = static_cast<std::int64_t>(values.size());
    for (const auto bits : bits_of(cast(HostTensor::from(values, {size}), dtype()))) hash.add(bits);
  }
  EXPECT_EQ(hash.value(), GetParam().encoded_hash);
}

TEST_P(SmallFloats, AllPatternsHaveMlDtypessValues) {
  const std::size_t count = std::size_t{1} << bit_width(dtype());
  HostTensor all = HostTensor::empty(dtype(), {static_cast<std::int64_t>(count)});
  const auto bytes = all.mutable_values<std::byte>();
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i * byte_size(dtype())] = static_cast<std::byte>(i);
    if (byte_size(dtype()) == 2) bytes[2 * i + 1] = static_cast<std::byte>(i >> 8);
  }
  Fnv hash;
  const HostTensor wide = cast(all, DType::Float64);
  for (const double value : wide.values<double>()) {
    hash.add(std::bit_cast<std::uint64_t>(
        std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value));
  }
  EXPECT_EQ(hash.value(), GetParam().decoded_hash);
}

TEST(Cast, FloatsRoundToNearestEvenOnce) {
  const double one = 1.0;
  const double half_ulp = std::ldexp(1.0, -24);
  EXPECT_THAT(
      (cast_values<float, double>(
          {one + half_ulp, one + 3 * half_ulp, one + half_ulp * 1.0001, 1e300, -1e300})),
      ElementsAre(1.0F, 1.0F + 4 * static_cast<float>(half_ulp), std::nextafter(1.0F, 2.0F),
                  std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()));
  // By way of float32 this would be a tie, and go down.
  const double above_tie = one + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
  const HostTensor rounded = cast(HostTensor::scalar(above_tie), DType::BFloat16);
  EXPECT_EQ(static_cast<float>(rounded.values<BFloat16>()[0]), 1.0F + std::ldexp(1.0F, -7));
}

TEST(Cast, Float64KeepsWhatFloat32CannotHold) {
  const std::vector<double> values{1e-8, 1 + std::ldexp(1.0, -40), 1e300};
  EXPECT_EQ((cast_values<double, double>(values)), values);
}

TEST(Cast, FloatsToIntegersTruncate) {
  EXPECT_THAT((cast_values<std::int32_t, float>({1.9F, -1.9F, 0.5F, -0.5F})),
              ElementsAre(1, -1, 0, 0));
  EXPECT_THAT((cast_values<std::uint8_t, float>({255.9F, 0.9F})), ElementsAre(255, 0));
}

TEST(Cast, WhatDoesNotFitInSixtyFourBitsBecomesTheNearestEnd) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_THAT((cast_values<std::int64_t, double>({infinity, -infinity, 1e30, std::nan("")})),
              ElementsAre(Limits::max(), Limits::min(), Limits::max(), 0));
  EXPECT_THAT((cast_values<std::uint64_t, double>({infinity, std::ldexp(1.0, 63), std::nan("")})),
              ElementsAre(std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 63, 0U));
}

TEST(Cast, IntegersKeepTheirLowBits) {
  EXPECT_THAT((cast_values<std::int8_t, std::int32_t>({300, -300, 128, -129})),
              ElementsAre(300 - 256, -300 + 256, -128, 127));
  EXPECT_THAT((cast_values<std::uint32_t, std::int64_t>({-1, (std::int64_t{1} << 40) + 5})),
              ElementsAre(std::numeric_limits<std::uint32_t>::max(), 5U));
  EXPECT_THAT((cast_values<std::uint64_t, std::int8_t>({-1})),
              ElementsAre(std::numeric_limits<std::uint64_t>::max()));
}

TEST(Cast, LargeIntegersRoundOnceToFloats) {
  // In float64 this is a tie between two floats, in truth it lies above it.
  const std::int64_t value = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_THAT((cast_values<float, std::int64_t>({value})),
              ElementsAre(std::ldexp(1.0F, 60) + std::ldexp(1.0F, 37)));
  EXPECT_THAT((cast_values<double, std::uint64_t>({std::numeric_limits<std::uint64_t>::max()})),
              ElementsAre(std::ldexp(1.0, 64)));
}

class NarrowIntegers : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Cast, NarrowIntegers,
                         ::testing::Values(DType::Int1, DType::Int2, DType::Int4, DType::UInt1,
                                           DType::UInt2, DType::UInt4),
                         dtype_name);

TEST_P(NarrowIntegers, KeepTheirLowBitsAndTheirSign) {
  std::vector<std::int8_t> all;
  for (int value = -128; value < 128; ++value) all.push_back(static_cast<std::int8_t>(value));
  const HostTensor narrow = cast(HostTensor::from(all, {256}), GetParam());
  const HostTensor back = cast(narrow, DType::Int32);
  const int modulus = 1 << bit_width(GetParam());
  for (std::size_t i = 0; i < all.size(); ++i) {
    int expected = ((all[i] % modulus) + modulus) % modulus;
    if (is_signed_integer(GetParam()) && expected >= modulus / 2) expected -= modulus;
    EXPECT_EQ(back.values<std::int32_t>()[i], expected) << int{all[i]};
    EXPECT_EQ(std::to_integer<std::uint8_t>(narrow.values<std::byte>()[i]),
              static_cast<std::uint8_t>(expected));
  }
}

TEST(Cast, ToBoolIsNotZero) {
  EXPECT_THAT((cast_values<bool, float>({0.0F, -0.0F, 0.1F, std::nanf(""), -2.0F})),
              ElementsAre(false, false, true, true, true));
  EXPECT_THAT((cast_values<bool, std::complex<float>>({{0, 0}, {0, 1}})), ElementsAre(false, true));
  EXPECT_THAT((cast_values<float, bool>({true, false})), ElementsAre(1.0F, 0.0F));
}

TEST(Cast, ComplexNumbersLoseTheirImaginaryPart) {
  using Complex = std::complex<double>;
  EXPECT_THAT((cast_values<double, Complex>({{1.5, 2}, {-3, 4}})), ElementsAre(1.5, -3.0));
  EXPECT_THAT((cast_values<std::int32_t, Complex>({{1.5, 2}})), ElementsAre(1));
  EXPECT_THAT((cast_values<std::complex<float>, Complex>({{1.5, 2}})),
              ElementsAre(std::complex<float>(1.5F, 2)));
  EXPECT_THAT((cast_values<Complex, float>({0.5F})), ElementsAre(Complex(0.5, 0)));
}

TEST(Cast, ReadsStridedTensorsAndManyElements) {
  const HostTensor tensor = ramp_tensor({50, 70});
  const std::array<std::int64_t, 2> swap{1, 0};
  const HostTensor result = cast(tensor.transpose(swap), DType::Int32);
  EXPECT_EQ(result.shape(), (Shape{70, 50}));
  for (std::int32_t i = 0; i < 70; ++i) {
    for (std::int32_t j = 0; j < 50; ++j) {
      ASSERT_EQ(result.values<std::int32_t>()[static_cast<std::size_t>(i * 50 + j)], j * 70 + i);
    }
  }
}

TEST(Cast, ToTheSameTypeSharesTheBytes) {
  const HostTensor tensor = ramp_tensor({3});
  EXPECT_EQ(cast(tensor, DType::Float32).data(), tensor.data());
}

TEST(SixteenBitFloats, ConvertAsCppValues) {
  for (const float value : {0.0F, 1.0F, -2.5F, 65504.0F}) {
    EXPECT_EQ(static_cast<float>(Float16(value)), value);
  }
  EXPECT_EQ(Float16(65520.0F), Float16(std::numeric_limits<float>::infinity()));
  EXPECT_EQ(BFloat16(1.0F).bits, std::bit_cast<std::uint32_t>(1.0F) >> 16);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(std::nanf("")))));
}

}  // namespace
}  // namespace lockstep
