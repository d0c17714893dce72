// Ops that move elements, and ops that make arrays, against JAX; and what they refuse.
#include "lockstep/trace/shape_ops.h"

#include "lockstep/trace/creation.h"
#include "trace/expected_creation.h"
#include "trace/expected_shape_ops.h"
#include "trace/op_cases.h"

namespace lockstep {
namespace {

using Op = std::function<Array(const Array&)>;

void add_rearranging(OpCases& cases) {
  const auto one = [&cases](const std::string& name, Op op, Array x) {
    cases[name] = of_one(std::move(op), std::move(x));
  };
  const Array x234 = random_array({2, 3, 4});
  const Array x23 = random_array({2, 3});
  one(
      "broadcast_to",
      [](const Array& x) {
        return broadcast_to(x, {2, 4, 3});
      },
      random_array({4, 1}));
  one(
      "broadcast_in_dim",
      [](const Array& x) {
        return broadcast_in_dim(x, {3, 2, 4}, {1, 2});
      },
      random_array({2, 1}));
  one(
      "reshape",
      [](const Array& x) {
        return reshape(x, {4, -1});
      },
      x234);
  one(
      "reshape_scalar", [](const Array& x) { return reshape(x, {}); }, random_array({1, 1}));
  one("ravel", ravel, x234);
  one(
      "transpose", [](const Array& x) { return transpose(x); }, x234);
  one(
      "transpose_permutation",
      [](const Array& x) {
        return transpose(x, {1, -1, 0});
      },
      x234);
  one(
      "swapaxes", [](const Array& x) { return swapaxes(x, 0, -1); }, x234);
  one(
      "moveaxis", [](const Array& x) { return moveaxis(x, 0, -1); }, x234);
  one(
      "squeeze", [](const Array& x) { return squeeze(x); }, random_array({1, 3, 1}));
  one(
      "squeeze_axis", [](const Array& x) { return squeeze(x, -1); }, random_array({1, 3, 1}));
  one(
      "expand_dims",
      [](const Array& x) {
        return expand_dims(x, {0, -1});
      },
      x23);
  one(
      "flip", [](const Array& x) { return flip(x); }, x23);
  one(
      "flip_axis", [](const Array& x) { return flip(x, 1); }, x23);
  one(
      "tile",
      [](const Array& x) {
        return tile(x, {2, 1, 2});
      },
      x23);
  one(
      "tile_short", [](const Array& x) { return tile(x, {2}); }, x23);
  one(
      "repeat", [](const Array& x) { return repeat(x, 2, 1); }, x23);
  one(
      "roll", [](const Array& x) { return roll(x, 2, 1); }, random_array({2, 5}));
  one(
      "roll_back", [](const Array& x) { return roll(x, -7, 1); }, random_array({2, 5}));
  for (const std::int64_t k : {-1, 0, 1}) {
    one(
        "tril_" + std::to_string(k), [k](const Array& x) { return tril(x, k); }, x234);
    one(
        "triu_" + std::to_string(k), [k](const Array& x) { return triu(x, k); }, x234);
  }
}

void add_joining_and_slicing(OpCases& cases) {
  const auto one = [&cases](const std::string& name, Op op, Array x) {
    cases[name] = of_one(std::move(op), std::move(x));
  };
  const Array x234 = random_array({2, 3, 4});
  cases["concatenate"] = of_two(
      [](const Array& x, const Array& y) {
        return concatenate({x, y}, -1);
      },
      random_array({2, 3}), random_array({2, 1}, -1, 1, 2));
  cases["concatenate_promotes"] = of_two(
      [](const Array& x, const Array& y) {
        return concatenate({x, y});
      },
      random_array({2}), ints({1, 2}));
  cases["stack"] = of_two(
      [](const Array& x, const Array& y) {
        return stack({x, y}, 1);
      },
      random_array({2, 3}), random_array({2, 3}, -1, 1, 2));
  for (std::size_t part = 0; part < 3; ++part) {
    if (part < 2) {
      one(
          "split_" + std::to_string(part),
          [part](const Array& x) { return split(x, 2, 2).at(part); }, x234);
    }
    one(
        "split_indices_" + std::to_string(part),
        [part](const Array& x) {
          return split(x, std::vector<std::int64_t>{1, 3}, -1).at(part);
        },
        x234);
  }
  one(
      "slice",
      [](const Array& x) {
        return slice(x, {0, 1, 0}, {2, 3, 4}, {1, 1, 3});
      },
      x234);
  one(
      "slice_in_dim", [](const Array& x) { return slice_in_dim(x, 1, 4, 2, 2); }, x234);
  one(
      "slice_in_dim_negative", [](const Array& x) { return slice_in_dim(x, -2, -1, 1, 1); }, x234);
  one(
      "index_in_dim", [](const Array& x) { return index_in_dim(x, -1, 1); }, x234);
  one(
      "pad",
      [](const Array& x) {
        return pad(x, {{1, 2, 0}, {-1, 0, 1}}, 0.5);
      },
      random_array({2, 3}));
  cases["pad_value"] = of_two(
      [](const Array& x, const Array& v) {
        return pad(x, {{1, 2, 2}}, v);
      },
      random_array({3}), random_array({}, -1, 1, 2));
}

void add_dynamic_slicing(OpCases& cases) {
  const auto scalar = [](std::int32_t value) { return Array(HostTensor::scalar(value)); };
  const Array x34 = random_array({3, 4});
  cases["dynamic_slice"] = {[](const Arrays& a) {
                              return dynamic_slice(a[0], {a[1], a[2]}, {2, 2});
                            },
                            {x34, scalar(1), scalar(2)}};
  cases["dynamic_slice_clamped"] =
      of_two([](const Array& x, const Array& i) { return dynamic_slice(x, {i}, {3}); },
             random_array({5}), scalar(4));
  cases["dynamic_slice_negative"] =
      of_two([](const Array& x, const Array& i) { return dynamic_slice(x, {i}, {2}); },
             random_array({5}), scalar(-2));
  cases["dynamic_update_slice"] = {[](const Arrays& a) {
                                     return dynamic_update_slice(a[0], a[1], {a[2], 0});
                                   },
                                   {x34, random_array({1, 2}, -1, 1, 2), scalar(2)}};
  cases["dynamic_slice_in_dim"] =
      of_two([](const Array& x, const Array& i) { return dynamic_slice_in_dim(x, i, 2, 1); }, x34,
             scalar(1));
  cases["dynamic_update_slice_in_dim"] = {
      [](const Arrays& a) { return dynamic_update_slice_in_dim(a[0], a[1], a[2], 1); },
      {random_array({2, 4}), random_array({2, 2}, -1, 1, 2), scalar(9)}};
  cases["dynamic_index_in_dim"] =
      of_two([](const Array& x, const Array& i) { return dynamic_index_in_dim(x, i, 1); }, x34,
             scalar(-1));
}

TEST(ShapeOps, EqualJax) {
  OpCases cases;
  add_rearranging(cases);
  add_joining_and_slicing(cases);
  add_dynamic_slicing(cases);
  expect_cases(cases, expected_shape_ops);
}

TEST(Creation, EqualsJax) {
  OpCases cases;
  const auto none = [&cases](const char* name, std::function<Array()> make) {
    cases[name] = {[make = std::move(make)](const Arrays&) { return make(); }, {}};
  };
  none("zeros", [] { return zeros({2, 3}); });
  none("ones_int8", [] { return ones({2}, int8); });
  none("full", [] { return full({2, 2}, 1.5); });
  none("full_dtype", [] { return full({2}, 7, uint8); });
  cases["full_array"] = of_one([](const Array& v) { return full({2, 3}, v); }, random_array({3}));
  cases["zeros_like"] = of_one([](const Array& x) { return zeros_like(x); }, ints({1, 2}));
  cases["ones_like"] =
      of_one([](const Array& x) { return ones_like(x); }, random_array({2}, -1, 1, 1, bfloat16));
  cases["full_like"] = of_one([](const Array& x) { return full_like(x, 2.5); }, random_array({2}));
  none("arange", [] { return arange(5); });
  none("arange_step", [] { return arange(2, 11, 3); });
  none("arange_back", [] { return arange(5, -4, -2); });
  none("arange_empty", [] { return arange(5, 2); });
  none("arange_float", [] { return arange(4, float32); });
  none("iota", [] { return iota(uint8, 4); });
  none("broadcasted_iota", [] { return broadcasted_iota(int32, {2, 3}, 1); });
  none("linspace", [] { return linspace(-1.0, 2.0, 7); });
  none("linspace_open", [] { return linspace(0.0, 1.0, 4, {.endpoint = false}); });
  none("linspace_one", [] { return linspace(3.0, 4.0, 1); });
  none("linspace_int32", [] { return linspace(0, 10, 4, {.dtype = int32}); });
  none("eye", [] { return eye(3); });
  none("eye_offset", [] { return eye(3, {.m = 4, .k = 1, .dtype = int32}); });
  none("eye_below", [] { return eye(3, {.m = 2, .k = -1}); });
  none("tri", [] { return tri(3, {.m = 4, .k = 1}); });
  none("tri_below", [] { return tri(3, {.k = -1}); });
  expect_cases(cases, expected_creation);
}

TEST(Creation, MisuseIsNamed) {
  expect_value_error([] { (void)zeros({2, -1}); }, {"(2, -1)", "negative"});
  expect_value_error([] { (void)arange(0, 5, 0); }, {"[arange]", "step 0", "must not be 0"});
  expect_value_error([] { (void)linspace(0, 1, -2); }, {"[linspace]", "num is -2"});
  expect_value_error([] { (void)iota(bool_, 3); }, {"[iota]", "bool"});
  expect_value_error([] { (void)broadcasted_iota(int32, {2}, 1); }, {"[iota]", "1"});
  expect_value_error([] { (void)full({2}, random_array({3})); },
                     {"[full]", "float32[3]", "(2,)", "equal or 1"});
  expect_value_error([] { (void)full({2}, 300, uint8); }, {"300", "uint8"});
}

TEST(ShapeOps, MisuseIsNamed) {
  const Array x = random_array({2, 3});
  expect_value_error([&] { (void)broadcast_to(x, {3}); },
                     {"[broadcast_to]", "float32[2,3]", "(3,)"});
  expect_value_error(
      [&] {
        (void)broadcast_to(x, {2, 4});
      },
      {"[broadcast", "float32[2,3]", "(2, 4)"});
  expect_value_error(
      [&] {
        (void)broadcast_in_dim(x, {2, 3}, {0});
      },
      {"[broadcast_in_dim]", "float32[2,3]"});
  expect_value_error([&] { (void)reshape(x, {4}); }, {"[reshape]", "float32[2,3]", "(4,)"});
  expect_value_error([&] { (void)reshape(x, {-1, -1}); }, {"[reshape]", "(-1, -1)", "at most one"});
  expect_value_error([&] { (void)reshape(x, {4, -1}); }, {"[reshape]", "6 elements", "(4, -1)"});
  expect_value_error(
      [&] {
        (void)transpose(x, {0, 0});
      },
      {"[transpose]", "(0, 0)", "twice", "float32[2,3]"});
  expect_value_error([&] { (void)transpose(x, {0}); }, {"[transpose]", "float32[2,3]"});
  expect_value_error([&] { (void)squeeze(x, 0); }, {"[squeeze]", "axis 0", "length 2"});
  expect_value_error([&] { (void)expand_dims(x, {}); }, {"[expand_dims]", "no axis"});
  expect_value_error([&] { (void)flip(x, 2); }, {"[flip]", "axis 2"});
  expect_value_error([&] { (void)tril(floats({1})); }, {"[tril]", "float32[1]", "matrices"});
}

TEST(ShapeOps, MisuseOfJoiningAndSlicingIsNamed) {
  const Array x = random_array({2, 3});
  expect_value_error([] { (void)concatenate({}); }, {"[concatenate]", "no arrays"});
  expect_value_error(
      [&] {
        (void)concatenate({x, random_array({2, 4})}, 0);
      },
      {"[concatenate]", "float32[2,3]", "float32[2,4]"});
  expect_value_error(
      [&] {
        (void)concatenate({x, floats({1})}, 0);
      },
      {"[concatenate]", "float32[2,3]", "float32[1]"});
  expect_value_error([] { (void)stack({}); }, {"[stack]", "no arrays"});
  expect_value_error([&] { (void)stack({x, floats({1})}); }, {"[stack]", "(2, 3)", "(1,)"});
  expect_value_error([&] { (void)split(x, 2, 1); },
                     {"[split]", "axis 1", "float32[2,3]", "length 3", "2 equal parts"});
  expect_value_error([&] { (void)slice(x, {0, 0}, {2, 4}); }, {"[slice]", "float32[2,3]", "4"});
  expect_value_error([&] { (void)slice(x, {0}, {2}); }, {"[slice]", "float32[2,3]"});
  expect_value_error([&] { (void)slice(x, {0, 0}, {2, 3}, {1, 0}); }, {"[slice]", "stride"});
  expect_value_error([&] { (void)index_in_dim(x, 2, 0); },
                     {"[index_in_dim]", "index 2", "axis 0", "length 2"});
  expect_value_error([&] { (void)pad(x, {{1, 1, 0}}); }, {"[pad]", "float32[2,3]"});
  expect_value_error([&] { (void)pad(x, {{0, 0, -1}, {0, 0, 0}}); }, {"[pad]", "interior"});
  expect_value_error([&] { (void)pad(x, {{-3, 0, 0}, {0, 0, 0}}); }, {"[pad]", "float32[2,3]"});
  expect_value_error(
      [&] {
        (void)dynamic_slice(x, {0}, {1, 1});
      },
      {"[dynamic_slice]", "1 start", "float32[2,3]"});
  expect_value_error(
      [&] {
        (void)dynamic_slice(x, {0, 0.5}, {1, 1});
      },
      {"[dynamic_slice]", "float32[]", "integer scalar"});
  expect_value_error(
      [&] {
        (void)dynamic_slice(x, {0, 0}, {3, 1});
      },
      {"[dynamic_slice]", "(3, 1)", "float32[2,3]"});
  expect_value_error(
      [&] {
        (void)dynamic_update_slice(x, random_array({3, 1}), {0, 0});
      },
      {"[dynamic_update_slice]", "(3, 1)", "float32[2,3]", "none longer"});
}

}  // namespace
}  // namespace lockstep
