// Products of matrices and tensors against JAX, and what they refuse.
#include "lockstep/trace/linear_algebra.h"

#include "trace/expected_linear_algebra.h"
#include "trace/op_cases.h"

namespace lockstep {
namespace {

std::string text_of(const Shape& shape) {
  std::string text;
  for (const std::int64_t length : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(length);
  }
  return text;
}

Array second(Shape shape) {
  return random_array(std::move(shape), -1, 1, 2);
}

void add_products(OpCases& cases) {
  const auto mul = [](const Array& x, const Array& y) { return matmul(x, y); };
  const auto dot_of = [](const Array& x, const Array& y) { return dot(x, y); };
  const std::pair<Shape, Shape> pairs[] = {{{3}, {3}},
                                           {{2, 3}, {3}},
                                           {{3}, {3, 2}},
                                           {{2, 3}, {3, 4}},
                                           {{5, 2, 3}, {3, 4}},
                                           {{2, 3}, {5, 3, 4}},
                                           {{5, 1, 2, 3}, {4, 3, 2}},
                                           {{2, 0}, {0, 3}}};
  for (const auto& [a, b] : pairs) {
    const std::string name = text_of(a) + "_" + text_of(b);
    cases["matmul_" + name] = of_two(mul, random_array(a), second(b));
    if (a.size() <= 3) cases["dot_" + name] = of_two(dot_of, random_array(a), second(b));
  }
  const Array square = array_of<std::int32_t>({1, 2, 3, 4}, {2, 2});
  const Array half = random_array({2, 3}, -1, 1, 1, bfloat16);
  const Array other_half = random_array({3, 2}, -1, 1, 2, bfloat16);
  cases["matmul_int32"] = of_two(mul, square, ints({5, 6}));
  cases["matmul_mixed"] = of_two(mul, square, random_array({2}));
  cases["matmul_bfloat16"] = of_two(mul, half, other_half);
  cases["matmul_preferred"] =
      of_two([](const Array& x,
                const Array& y) { return matmul(x, y, {.preferred_element_type = float32}); },
             half, other_half);
  cases["dot_scalar"] = of_two(dot_of, random_array({2, 3}), second({}));
  cases["vdot"] = of_two([](const Array& x, const Array& y) { return vdot(x, y); },
                         random_array({2, 3}), second({6}));
  cases["outer"] = of_two(outer, random_array({2, 2}), second({3}));
  cases["dot_general"] = of_two(
      [](const Array& x, const Array& y) {
        return dot_general(
            x, y,
            {.lhs_contracting = {2}, .rhs_contracting = {1}, .lhs_batch = {0}, .rhs_batch = {2}});
      },
      random_array({2, 3, 4}), second({5, 4, 2}));
  const auto over = [](std::int64_t axes) {
    return [axes](const Array& x, const Array& y) { return tensordot(x, y, axes); };
  };
  cases["tensordot"] = of_two(over(2), random_array({2, 3, 4}), second({3, 4, 2}));
  cases["tensordot_1"] = of_two(over(1), random_array({2, 3}), second({3, 2}));
  cases["tensordot_0"] = of_two(over(0), random_array({2}), second({3}));
  cases["tensordot_pairs"] = of_two(
      [](const Array& x, const Array& y) {
        return tensordot(x, y, {0, 2}, {1, -1});
      },
      random_array({2, 3, 4}), second({3, 2, 4}));
}

struct EinsumRow {
  std::string name;
  std::string subscripts;
  std::vector<Shape> shapes;
};

void add_einsums(OpCases& cases) {
  const std::vector<EinsumRow> rows = {
      {"matmul", "ij,jk->ik", {{2, 3}, {3, 4}}},
      {"batch", "bij,bjk->bik", {{2, 3, 4}, {2, 4, 2}}},
      {"implicit", "ba,bc", {{2, 3}, {2, 4}}},
      {"inner", "i,i->", {{3}, {3}}},
      {"outer", "i,j->ij", {{2}, {3}}},
      {"transpose", "ijk->kij", {{2, 3, 4}}},
      {"sum", "ij->j", {{2, 3}}},
      {"trace", "ii->", {{3, 3}}},
      {"diagonal", "ii->i", {{3, 3}}},
      {"ellipsis", "...ij,...jk->...ik", {{5, 2, 3}, {3, 4}}},
      {"ellipsis_sum", "...i->...", {{2, 3, 4}}},
      {"three", "ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}},
      {"attention", "bqhd,bkhd->bhqk", {{2, 3, 2, 4}, {2, 5, 2, 4}}},
      {"spaces", " i j , j -> i ", {{2, 3}, {3}}},
      {"elementwise", "ij,ij->ij", {{2, 3}, {2, 3}}},
      {"lone", "ij,k->i", {{2, 3}, {4}}},
      {"repeated", "iij,j->i", {{2, 2, 3}, {3}}}};
  for (const EinsumRow& row : rows) {
    Arrays inputs;
    for (const Shape& shape : row.shapes) {
      inputs.push_back(random_array(shape, -1, 1, inputs.size() + 1));
    }
    cases["einsum_" + row.name] = {
        [subscripts = row.subscripts](const Arrays& a) { return einsum(subscripts, a); }, inputs};
  }
}

TEST(LinearAlgebra, EqualsJax) {
  OpCases cases;
  add_products(cases);
  add_einsums(cases);
  expect_cases(cases, expected_linear_algebra);
}

// A product's derivative is made of products: no large multiply.
TEST(LinearAlgebra, TheGradientOfAProductIsTwoProducts) {
  const std::string text =
      jit([](const Array& x, const Array& w) {
        return grad<0, 1>([](const Array& a, const Array& b) { return sum(matmul(a, b)); })(x, w);
      }).lower(shape_dtype_struct({64, 32}), shape_dtype_struct({32, 16}));
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("stablehlo.dot_general", at)) != std::string::npos;
       ++at) {
    ++count;
  }
  EXPECT_EQ(count, 2u) << text;
  EXPECT_EQ(text.find("stablehlo.multiply"), std::string::npos) << text;
}

TEST(LinearAlgebra, MisuseIsNamed) {
  const Array a = random_array({2, 3});
  const Array b = random_array({4, 5});
  expect_value_error([&] { (void)matmul(a, b); }, {"[matmul]", "float32[2,3]", "3 at axis 1",
                                                   "float32[4,5]", "4 at axis 0", "transpose"});
  expect_value_error([&] { (void)matmul(a, 2.0); }, {"[matmul]", "at least one axis", "*"});
  expect_value_error(
      [] {
        (void)matmul(random_array({2, 2, 3}), random_array({3, 3, 2}));
      },
      {"[matmul]", "(2,)", "(3,)"});
  expect_value_error([&] { (void)dot(a, b); }, {"float32[2,3]", "float32[4,5]"});
  expect_value_error([&] { (void)vdot(a, b); }, {"6", "20"});
  expect_value_error([&] { (void)tensordot(a, b, 3); }, {"[tensordot]", "3 axes"});
  expect_value_error([&] { (void)tensordot(a, b, {1}, {0}); }, {"float32[2,3]", "float32[4,5]"});
  expect_value_error(
      [&] {
        (void)dot_general(a, b, {.lhs_contracting = {0}, .rhs_contracting = {0, 1}});
      },
      {"[dot_general]", "float32[2,3]", "float32[4,5]"});
  expect_value_error(
      [&] { (void)dot_general(a, b, {.lhs_contracting = {5}, .rhs_contracting = {0}}); },
      {"[dot_general]", "5"});
}

TEST(LinearAlgebra, MisuseOfEinsumIsNamed) {
  const Array a = random_array({2, 3});
  const Array b = random_array({4, 5});
  expect_value_error(
      [&] {
        (void)einsum("ij,jk->ik", {a, b});
      },
      {"[einsum]", "'ij,jk->ik'", "j", "3", "4"});
  expect_value_error([&] { (void)einsum("ij,jk->ik", {a}); }, {"[einsum]", "'ij,jk->ik'", "1"});
  expect_value_error([&] { (void)einsum("ijk->i", {a}); },
                     {"[einsum]", "'ijk->i'", "float32[2,3]"});
  expect_value_error([&] { (void)einsum("ij->iz", {a}); }, {"[einsum]", "z"});
  expect_value_error([&] { (void)einsum("ij->ii", {a}); }, {"[einsum]", "i"});
  expect_value_error([&] { (void)einsum("i1->i", {a}); }, {"[einsum]", "1"});
  expect_value_error([] { (void)einsum("->", {}); }, {"[einsum]"});
}

}  // namespace
}  // namespace lockstep
