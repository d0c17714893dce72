#pragma once
// What the tests of nn/ share: inputs, and comparing with what make_expected_layers.py wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "nn/expected_layers.h"
#include "support/error_text.h"

namespace lockstep::nn {

using lockstep::testing::error_text;

// Element k is ((37 k mod 19) - 9) / 4.
inline HostTensor pattern(const Shape& shape, DType dtype = float32) {
  std::vector<double> values(static_cast<std::size_t>(num_elements(shape)));
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = (static_cast<double>(37 * k % 19) - 9) / 4;
  }
  return cast(HostTensor::from(values, shape), dtype);
}

inline HostTensor tensor_of(const ExpectedTensor& expected) {
  return cast(HostTensor::from(expected.values, expected.shape), dtype_from_string(expected.dtype));
}

inline std::vector<double> doubles_of(const Array& array) {
  const HostTensor wide = array.to_host(float64);
  const auto values = wide.values<double>();
  return {values.begin(), values.end()};
}

// Type, shape and elements; each may be off by `tolerance` times the largest number beside it.
inline void expect_near(const Array& found, const ExpectedTensor& expected, double tolerance) {
  EXPECT_EQ(to_string(found.dtype()), expected.dtype);
  ASSERT_EQ(found.shape(), expected.shape);
  const std::vector<double> values = doubles_of(found);
  double scale = 0;
  for (const double value : expected.values) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected.values[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i;
    } else {
      EXPECT_NEAR(values[i], expected.values[i], tolerance * scale) << "element " << i;
    }
  }
}

// As expect_near, each element by its own size, and by `absolute` besides: subnormal numbers may be
// zero.
inline void expect_relative(const Array& found, const ExpectedTensor& expected, double tolerance,
                            double absolute = 1e-37) {
  EXPECT_EQ(to_string(found.dtype()), expected.dtype);
  ASSERT_EQ(found.shape(), expected.shape);
  const std::vector<double> values = doubles_of(found);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double size = std::abs(expected.values[i]);
    EXPECT_LE(std::abs(values[i] - expected.values[i]), tolerance * size + absolute)
        << "element " << i << ": " << values[i] << " for " << expected.values[i];
  }
}

// The keys of a table, for INSTANTIATE_TEST_SUITE_P.
template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& [name, value] : table) names.push_back(name);
  return names;
}

inline std::string parameter_name(const ::testing::TestParamInfo<std::string>& param_info) {
  return param_info.param;
}

}  // namespace lockstep::nn
