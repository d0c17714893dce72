#pragma once
// What the tests of trace/ share: eight CPU devices, arrays from lists, error texts, closeness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "support/cpu_devices.h"
#include "support/error_text.h"

namespace lockstep {

using testing::error_text;

// Every test program of trace/ has eight CPU devices, so that meshes can be made.
inline const ::testing::Environment* const eight_cpu_devices =
    testing::use_cpu_devices(testing::num_cpu_devices);

template <class T>
Array array_of(const std::vector<T>& values, Shape shape) {
  return HostTensor::from(values, std::move(shape));
}
template <class T>
Array vector_of(const std::vector<T>& values) {
  return HostTensor::from(values, {static_cast<std::int64_t>(values.size())});
}
inline Array floats(const std::vector<float>& values) {
  return vector_of(values);
}
inline Array doubles(const std::vector<double>& values) {
  return vector_of(values);
}
inline Array ints(const std::vector<std::int32_t>& values) {
  return vector_of(values);
}

// All elements as doubles, row-major, whatever the type.
inline std::vector<double> as_doubles(const Array& array) {
  const HostTensor tensor = cast(array.to_host(), DType::Float64).contiguous();
  const std::span<const double> values = tensor.values<double>();
  return {values.begin(), values.end()};
}

// `count` numbers spread over [low, high), the same ones for the same seed.
inline std::vector<double> numbers(std::size_t count, double low, double high,
                                   std::uint64_t seed = 1) {
  std::vector<double> values(count);
  std::uint64_t state = seed * 2654435761u + 12345;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = low + (high - low) * std::ldexp(static_cast<double>(state >> 11), -53);
  }
  return values;
}
inline Array random_array(Shape shape, double low = -1, double high = 1, std::uint64_t seed = 1,
                          DType dtype = DType::Float32) {
  const auto count = static_cast<std::size_t>(num_elements(shape));
  return cast(HostTensor::from(numbers(count, low, high, seed), std::move(shape)), dtype);
}

// Element by element |found - expected| <= tolerance * (1 + |expected|); NaN equals NaN.
inline void expect_near(const Array& found, const std::vector<double>& expected,
                        double tolerance = 1e-6) {
  const std::vector<double> values = as_doubles(found);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(values[i], expected[i]) << "element " << i;
    } else {
      EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::abs(expected[i])))
          << "element " << i;
    }
  }
}

inline void expect_same(const Array& found, const Array& expected) {
  EXPECT_EQ(found.abstract_value().shape, expected.abstract_value().shape);
  EXPECT_EQ(found.dtype(), expected.dtype());
  EXPECT_TRUE(found.to_host().contiguous().identical(expected.to_host().contiguous()))
      << "bits differ";
}

// Fails unless `body` throws a ValueError whose text holds every part.
inline void expect_value_error(const std::function<void()>& body,
                               const std::vector<std::string>& parts) {
  const std::string text = error_text(body);
  for (const std::string& part : parts) EXPECT_THAT(text, ::testing::HasSubstr(part));
}

}  // namespace lockstep
