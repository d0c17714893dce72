// Gathers and scatters against JAX, and what they refuse.
#include "lockstep/trace/indexing.h"

#include "trace/expected_indexing.h"
#include "trace/op_cases.h"

namespace lockstep {
namespace {

OpCases indexing_cases() {
  OpCases cases;
  const auto taking = [](TakeOptions options) {
    return [options](const Array& x, const Array& i) { return take(x, i, options); };
  };
  const auto along = [](std::int64_t axis) {
    return [axis](const Array& x, const Array& i) { return take_along_axis(x, i, axis); };
  };
  const auto hot = [](std::int64_t num_classes, OneHotOptions options) {
    return [num_classes, options](const Array& i) { return one_hot(i, num_classes, options); };
  };
  const Array x34 = random_array({3, 4});
  const Array indices = array_of<std::int32_t>({2, 0, -1, 2, 5, -4}, {2, 3});
  cases["take"] = of_two(taking({.axis = 0}), x34, indices);
  cases["take_last"] = of_two(taking({.axis = -1}), x34, indices);
  cases["take_flat"] = of_two(taking({}), x34, ints({0, 11, 12, -12, -13}));
  cases["take_clip"] = of_two(taking({.axis = 0, .mode = IndexMode::Clip}), x34, indices);
  cases["take_int32"] = of_two(taking({}), ints({5, 6, 7}), ints({0, 9}));
  cases["take_uint8"] = of_two(taking({}), vector_of<std::uint8_t>({5, 6, 7}), ints({0, 9}));
  cases["take_scalar_index"] =
      of_two(taking({.axis = 1}), x34, HostTensor::scalar(std::int32_t{2}));
  cases["take_uint8_indices"] = of_two(taking({.axis = 0}), x34, vector_of<std::uint8_t>({2, 0}));
  cases["take_along_axis"] =
      of_two(along(1), x34, array_of<std::int32_t>({0, 3, -1, 1, 7, 2}, {3, 2}));
  cases["take_along_axis_broadcast"] =
      of_two(along(0), x34, array_of<std::int32_t>({2, 0}, {2, 1}));
  cases["one_hot"] = of_one(hot(3, {}), ints({2, 0, 3, -1}));
  cases["one_hot_axis"] = of_one(hot(3, {.axis = 0}), ints({2, 0}));
  cases["one_hot_int8"] = of_one(hot(3, {.dtype = int8}), ints({2, 0}));
  const auto adding = [](const Arrays& a) { return at_add(a[0], a[1], a[2]); };
  cases["at_add"] = {adding, {x34, ints({2, 0, -1, 2, 7}), random_array({5, 4}, -1, 1, 2)}};
  cases["at_add_broadcast"] = {adding, {x34, ints({1, 1}), random_array({4}, -1, 1, 2)}};
  cases["gather"] = of_two(
      [](const Array& x, const Array& i) {
        return gather(x, i,
                      {.offset_dims = {1}, .collapsed_slice_dims = {0}, .start_index_map = {0, 1}},
                      {1, 2});
      },
      x34, array_of<std::int32_t>({0, 1, 2, 3}, {2, 2}));
  cases["scatter_add"] = {
      [](const Arrays& a) {
        return scatter_add(a[0], a[1], a[2],
                           {.update_window_dims = {1},
                            .inserted_window_dims = {0},
                            .scatter_dims_to_operand_dims = {0}});
      },
      {x34, array_of<std::int32_t>({1, 5, 1}, {3, 1}), random_array({3, 4}, -1, 1, 2)}};
  return cases;
}

TEST(Indexing, EqualsJax) {
  expect_cases(indexing_cases(), expected_indexing);
}

TEST(Indexing, MisuseIsNamed) {
  const Array x = random_array({3, 4});
  expect_value_error([&] { (void)take(x, floats({1})); }, {"[take]", "float32[1]", "integers"});
  expect_value_error([&] { (void)take(x, ints({1}), {.axis = 2}); }, {"[take]", "axis 2"});
  expect_value_error(
      [] {
        (void)take(HostTensor::zeros(float32, {0, 2}), ints({1}), {.axis = 0});
      },
      {"[take]", "axis 0", "float32[0,2]", "length 0"});
  expect_value_error([&] { (void)take_along_axis(x, ints({1}), 0); },
                     {"[take_along_axis]", "float32[3,4]", "int32[1]", "expand_dims"});
  expect_value_error([] { (void)one_hot(ints({1}), -3); }, {"[one_hot]", "-3", "negative"});
  expect_value_error([&] { (void)at_add(1.0, ints({0}), 1.0); }, {"[at_add]", "scalar"});
  expect_value_error(
      [&] {
        (void)at_add(x, ints({0, 1}), random_array({3, 4}));
      },
      {"[at_add]", "float32[3,4]", "(2, 4)", "equal or 1"});
  expect_value_error(
      [&] {
        (void)gather(x, ints({0, 1, 2}), {.start_index_map = {0}}, {1, 1});
      },
      {"[gather]", "int32[3]", "length 1"});
  expect_value_error(
      [&] {
        (void)gather(x, ints({0}), {.offset_dims = {0}, .start_index_map = {0}}, {4, 1});
      },
      {"[gather]", "(4, 1)", "float32[3,4]"});
  expect_value_error(
      [&] {
        (void)scatter_add(x, ints({0}), floats({1}),
                          {.update_window_dims = {0}, .scatter_dims_to_operand_dims = {0}});
      },
      {"[scatter_add]", "float32[1]"});
}

}  // namespace
}  // namespace lockstep
