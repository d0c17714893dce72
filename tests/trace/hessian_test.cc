// jacfwd, jacrev, hessian and hvp: shapes, agreement of the modes, third derivatives, misuse.
#include "lockstep/trace/hessian.h"

#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Array to_matrix(const Array& x) {
  return stack({sin(x) * sum(x), x * x});
}

TEST(Jacobian, OfAnAffineMapIsItsMatrix) {
  const Array m = array_of<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto f = [&](const Array& x) { return matmul(m, x) + 7.0; };
  for (const Array& jacobian : {jacfwd(f)(doubles({1, 0, 2})), jacrev(f)(doubles({1, 0, 2}))}) {
    EXPECT_EQ(jacobian.shape(), (Shape{2, 3}));
    expect_near(jacobian, {1, 2, 3, 4, 5, 6});
    EXPECT_FALSE(jacobian.is_traced());
  }
}

TEST(Jacobian, HasTheResultsAxesThenTheArguments) {
  const Array x = random_array({3}, -1, 1, 1, DType::Float64);
  const Array forward = jacfwd(to_matrix)(x);
  EXPECT_EQ(forward.shape(), (Shape{2, 3, 3}));
  const Array reverse = jacrev(to_matrix)(x);
  EXPECT_EQ(reverse.shape(), (Shape{2, 3, 3}));
  expect_near(forward, as_doubles(reverse), 1e-14);
  expect_near(jit(jacfwd(to_matrix))(x), as_doubles(reverse), 1e-14);
}

TEST(Hessian, OfAQuadraticFormIsItsMatrix) {
  const Array m = array_of<double>({2, 1, 1, 3}, {2, 2});
  const auto f = [&](const Array& x) { return 0.5 * sum(x * matmul(m, x)); };
  expect_near(hessian(f)(doubles({5, -1})), {2, 1, 1, 3});
  expect_near(jit(hessian(f))(doubles({5, -1})), {2, 1, 1, 3});
}

TEST(Hessian, DifferentiatesOnceMore) {
  const auto cube = [](const Array& x) { return sum(x * x * x); };
  const Array third = jacrev(hessian(cube))(doubles({1, 2}));
  EXPECT_EQ(third.shape(), (Shape{2, 2, 2}));
  expect_near(third, {6, 0, 0, 0, 0, 0, 0, 6});
}

TEST(Hvp, IsTheHessianTimesTheVector) {
  const auto f = [](const Array& x) { return sum(exp(x) * sin(sum(x))); };
  const Array x = random_array({4}, -1, 1, 1, DType::Float64);
  const Array v = random_array({4}, -1, 1, 2, DType::Float64);
  expect_near(hvp(f, x, v), as_doubles(matmul(hessian(f)(x), v)), 1e-13);
}

TEST(Hvp, OfATreeHasItsStructure) {
  const auto f = [](const Tree& p) { return sum(p["a"].leaf() * p["b"].leaf() * p["b"].leaf()); };
  const Tree x{{"a", doubles({2})}, {"b", doubles({3})}};
  const Tree v{{"a", doubles({1})}, {"b", doubles({0})}};
  const Tree product = hvp(f, x, v);
  expect_near(product["a"].leaf(), {0});
  expect_near(product["b"].leaf(), {6});
}

TEST(Jacobian, RefusesWhatHasNoDerivative) {
  const auto f = [](const Array& x) { return x; };
  EXPECT_THAT(error_text<ValueError>([&] { (void)jacfwd(f)(ints({1})); }),
              AllOf(HasSubstr("[jacfwd] the argument is int32[1]"), HasSubstr("astype")));
  EXPECT_THAT(error_text<ValueError>([&] { (void)jacrev(f)(Array()); }),
              HasSubstr("[jacrev] the argument is null"));
}

}  // namespace
}  // namespace lockstep
