#pragma once
// Ops against numbers that JAX gave: a table of cases for each theme, value and gradients at once.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "trace/trace_test_support.h"

namespace lockstep {

struct ExpectedResult {
  std::string dtype;
  Shape shape;
  std::vector<double> values;  // row-major
  // By each floating input: of sum(w * result), w drawn from [0.5, 1.5). None where the result is
  // not floating.
  std::vector<std::vector<double>> gradients;
};

using Arrays = std::vector<Array>;

struct OpCase {
  std::function<Array(const Arrays&)> op;
  Arrays inputs;
};
using OpCases = std::map<std::string, OpCase>;

// Functions of one and two arrays as cases.
using UnaryOp = Array (*)(const Array&);
using BinaryOp = Array (*)(const Array&, const Array&);
inline OpCase of_one(std::function<Array(const Array&)> op, Array x) {
  return {[op = std::move(op)](const Arrays& a) { return op(a[0]); }, {std::move(x)}};
}
inline OpCase of_two(std::function<Array(const Array&, const Array&)> op, Array x, Array y) {
  return {[op = std::move(op)](const Arrays& a) { return op(a[0], a[1]); },
          {std::move(x), std::move(y)}};
}

// What the two sides' roundings may differ by, relative to 1 + the number.
inline double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::BFloat16: return 1.0 / 64;
    case DType::Float16: return 1.0 / 512;
    case DType::Float64: return 1e-12;
    default: return 4e-6;
  }
}

inline void expect_case(const OpCase& op_case, const ExpectedResult& expected) {
  std::vector<std::size_t> floating;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (is_floating(op_case.inputs[i].dtype())) floating.push_back(i);
  }
  // The result, then the gradients, of one compiled program.
  const auto program = jit([&](const Arrays& inputs) {
    Arrays results{op_case.op(inputs)};
    if (!is_floating(results[0].dtype()) || floating.empty()) return results;
    const Array weights = random_array(results[0].shape(), 0.5, 1.5, 99, results[0].dtype());
    Arrays at;
    for (const std::size_t i : floating) at.push_back(inputs[i]);
    const Arrays gradients = grad([&](const Arrays& x) {
      Arrays all = inputs;
      for (std::size_t i = 0; i < x.size(); ++i) all[floating[i]] = x[i];
      return sum(weights * op_case.op(all));
    })(at);
    results.insert(results.end(), gradients.begin(), gradients.end());
    return results;
  });
  const Arrays found = program(op_case.inputs);
  EXPECT_EQ(to_string(found[0].dtype()), expected.dtype);
  EXPECT_EQ(found[0].shape(), expected.shape);
  expect_near(found[0], expected.values, tolerance_of(found[0].dtype()));
  ASSERT_EQ(found.size() - 1, expected.gradients.size());
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    SCOPED_TRACE("gradient by floating input " + std::to_string(i));
    expect_near(found[i + 1], expected.gradients[i], tolerance_of(found[i + 1].dtype()));
  }
}

// Every case against its numbers, and no numbers without a case.
inline void expect_cases(const OpCases& cases,
                         const std::map<std::string, ExpectedResult>& expected) {
  std::set<std::string> made;
  for (const auto& [name, op_case] : cases) made.insert(name);
  std::set<std::string> wanted;
  for (const auto& [name, result] : expected) wanted.insert(name);
  EXPECT_EQ(made, wanted);
  for (const auto& [name, op_case] : cases) {
    SCOPED_TRACE(name);
    if (!wanted.contains(name)) continue;
    try {
      expect_case(op_case, expected.at(name));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace lockstep
