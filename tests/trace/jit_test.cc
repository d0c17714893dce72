// jit: trees in and out, signatures, constants, donation, and misuse.
#include "lockstep/trace/jit.h"

#include <atomic>
#include <map>
#include <thread>

#include "lockstep/trace/grad.h"
#include "lockstep/trace/ops.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

TEST(Jit, RunsAFunctionOfArrays) {
  const auto f = jit([](const Array& x, const Array& y) { return x * 2.0 + y; });
  const Array z = f(floats({1, 2}), floats({10, 20}));
  expect_near(z, {12, 24});
  EXPECT_TRUE(z.is_device());
  EXPECT_EQ(z.sharding(), Sharding(SingleDeviceSharding{default_device()}));
}

TEST(Jit, TakesAndGivesContainers) {
  using Dict = std::map<std::string, Array>;
  const auto f = jit([](const std::vector<Array>& xs, const Dict& named) {
    return std::tuple(xs[0] + xs[1], Dict{{"y", named.at("a") * 3.0}}, std::pair(xs[1], xs[0]));
  });
  const auto [total, dict, swapped] =
      f(std::vector<Array>{floats({1}), floats({2})}, Dict{{"a", floats({3})}});
  expect_near(total, {3});
  expect_near(dict.at("y"), {9});
  expect_near(swapped.first, {2});
  expect_near(swapped.second, {1});
}

TEST(Jit, TakesAndGivesTrees) {
  const auto f = jit([](const Tree& tree) {
    return Tree(Tree::List{tree["b"].leaf() + 1.0, tree["a"], Tree(Tree::List{})});
  });
  const Tree result = f(Tree{{"a", Tree{{"x", floats({1})}}}, {"b", floats({5})}});
  ASSERT_EQ(result.items().size(), 3u);
  expect_near(result[std::size_t{0}].leaf(), {6});
  expect_near(result[std::size_t{1}]["x"].leaf(), {1});
  EXPECT_TRUE(result[std::size_t{2}].items().empty());
}

TEST(Jit, OfAGenericFunctionTakesNumbers) {
  const auto f = jit([](const auto& x, const auto& y) { return x + y; });
  expect_near(f(floats({1}), 2), {3});
  expect_near(f(1.5, 2), {3.5});
}

TEST(Jit, WorksWithoutArgumentsAndWithoutResults) {
  expect_near(jit([] { return arange(3); })(), {0, 1, 2});
  EXPECT_TRUE(jit([](const Array&) { return std::vector<Array>(); })(floats({1})).empty());
}

TEST(Jit, HandsAnArgumentThrough) {
  const auto f = jit([](const Array& x) { return std::pair(x, x); });
  const auto [a, b] = f(floats({1, 2}));
  expect_near(a, {1, 2});
  expect_near(b, {1, 2});
}

// The function is C++: what it does beside its ops happens once for each signature.
TEST(Jit, TracesOncePerSignature) {
  int traces = 0;
  const auto f = jit([&](const Array& x) {
    ++traces;
    return x + x;
  });
  (void)f(floats({1, 2}));
  (void)f(floats({3, 4}));
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f.cache_size(), 1u);
  (void)f(floats({1, 2, 3}));  // another shape
  EXPECT_EQ(traces, 2);
  (void)f(ints({1, 2}));  // another type
  EXPECT_EQ(traces, 3);
  (void)f(1.0);  // a weak type
  (void)f(HostTensor::scalar(1.0f));
  EXPECT_EQ(traces, 5);
  (void)f(device_put(floats({5, 6}), SingleDeviceSharding{devices("cpu")[1]}));  // another device
  EXPECT_EQ(traces, 6);
  (void)f(floats({7, 8}));
  EXPECT_EQ(traces, 6);
  EXPECT_EQ(f.cache_size(), 6u);
}

TEST(Jit, TracesOncePerStructure) {
  const auto f = jit([](const Tree& tree) {
    return tree.is_list() ? tree[std::size_t{0}].leaf() : tree["a"].leaf() * 2.0;
  });
  expect_near(f(Tree{{"a", floats({1})}}), {2});
  expect_near(f(Tree(Tree::List{floats({1})})), {1});
  EXPECT_EQ(f.cache_size(), 2u);
}

TEST(Jit, CopiesShareTheirPrograms) {
  const auto f = jit([](const Array& x) { return x + 1.0; });
  const auto copy = f;
  (void)f(floats({1}));
  EXPECT_EQ(copy.cache_size(), 1u);
}

TEST(Jit, KeepsCapturedArraysAsConstants) {
  Array captured = floats({1, 2});
  const auto f = jit([&](const Array& x) { return x + captured; });
  expect_near(f(floats({10, 20})), {11, 22});
  captured = floats({100, 200});  // too late: the program is made
  expect_near(f(floats({10, 20})), {11, 22});
}

// Constants too large to print travel as hidden arguments.
TEST(Jit, TakesLargeConstants) {
  const Array table = random_array({100, 100}, -1, 1, 3);
  const auto f = jit([&](const Array& x) { return matmul(x, table); });
  const Array x = random_array({2, 100}, -1, 1, 4);
  expect_near(f(x), as_doubles(matmul(x, table)), 1e-5);
  expect_near(f(x), as_doubles(matmul(x, table)), 1e-5);
  EXPECT_LT(f.lower(x).size(), 4000u);
}

TEST(Jit, InsideJitIsTracedInPlace) {
  const auto inner = jit([](const Array& x) { return sin(x); }, {.name = "inner"});
  const auto outer = jit([&](const Array& x) { return inner(x) * 2.0; });
  expect_near(outer(floats({0.5f})), {2 * std::sin(0.5)});
  EXPECT_EQ(inner.cache_size(), 0u);
}

TEST(Jit, RunsWhereItsArgumentsAre) {
  const Sharding third = SingleDeviceSharding{devices("cpu")[3]};
  const auto f = jit([](const Array& x, const Array& y) { return x + y; });
  EXPECT_EQ(f(device_put(floats({1}), third), floats({2})).sharding(), third);
  const auto placed = jit([](const Array& x) { return x + 1.0; }, {.out_sharding = third});
  EXPECT_EQ(placed(floats({1})).sharding(), third);
}

TEST(Jit, DonatesTheArgumentsNamed) {
  const auto f = jit(
      [](const Tree& state, const Array& x) {
        return Tree{{"w", state["w"].leaf() + x}};
      },
      {.name = "step", .donate_argnums = {0}});
  Tree state = device_put(Tree{{"w", floats({1, 2})}}, SingleDeviceSharding{default_device()});
  const Array x = device_put(floats({10, 10}), SingleDeviceSharding{default_device()});
  const Tree next = f(state, x);
  EXPECT_TRUE(state["w"].leaf().is_deleted());
  EXPECT_FALSE(x.is_deleted());
  expect_near(next["w"].leaf(), {11, 12});
  expect_value_error([&] { (void)f(state, x); },
                     {"[step]", "'0/w'", "float32[2]", "already donated"});
  expect_near(f(next, x)["w"].leaf(), {21, 22});
}

// A donated argument that is still in host memory is not the caller's loss.
TEST(Jit, LeavesHostArgumentsWhole) {
  const auto f = jit([](const Array& x) { return x * 2.0; }, {.donate_argnums = {0}});
  const Array x = random_array({1000});
  const std::vector<double> before = as_doubles(x);
  (void)f(x);
  EXPECT_EQ(as_doubles(x), before);
}

TEST(Jit, NamesADonatedArgumentThatIsNot) {
  const auto f = jit([](const Array& x) { return x; }, {.name = "f", .donate_argnums = {2}});
  expect_value_error([&] { (void)f(floats({1})); }, {"[f]", "donate_argnums", "2", "there are 1"});
}

TEST(Jit, NamesAnArgumentWithoutAValue) {
  const auto f = jit([](const Tree& t) { return t["a"].leaf(); }, {.name = "f"});
  expect_value_error(
      [&] {
        (void)f(Tree{{"a", Array()}});
      },
      {"[f]", "argument 0", "'a'", "no value"});
}

TEST(Jit, NamesArgumentsOnDifferentDevices) {
  const auto f = jit([](const Array& x, const Array& y) { return x + y; }, {.name = "f"});
  const Array a = device_put(floats({1}), SingleDeviceSharding{devices("cpu")[0]});
  const Array b = device_put(floats({1}), SingleDeviceSharding{devices("cpu")[1]});
  expect_value_error([&] { (void)f(a, b); }, {"[f]", "different devices", "device_put"});
}

TEST(Jit, RefusesALeakedTracer) {
  Array leaked;
  const auto f = jit([&](const Array& x) {
    leaked = x * 2.0;
    return x;
  });
  (void)f(floats({1, 2}));
  ASSERT_TRUE(leaked.is_traced());
  expect_value_error([&] { (void)(leaked + 1.0); }, {"[add]", "float32[2]", "traced"});
  expect_value_error([&] { (void)leaked.to_host(); }, {"no value inside a trace"});
  const auto g = jit([&](const Array& x) { return x + leaked; });
  expect_value_error(
      [&] {
        (void)g(floats({1, 2}));
      },
      {"[trace]", "float32[2]", "outside the trace"});
  EXPECT_EQ(current_graph(), nullptr);
}

TEST(Jit, HasNoNumbersWhileItTraces) {
  const auto f = jit([](const Array& x) { return x.item<float>() > 0 ? x : -x; });
  expect_value_error([&] { (void)f(HostTensor::scalar(1.0f)); }, {"no value inside a trace"});
}

TEST(Jit, RecoversFromAnErrorInTheFunction) {
  const auto f = jit([](const Array& x) { return x + floats({1, 2, 3}); });
  expect_value_error([&] { (void)f(floats({1, 2})); }, {"[add]", "(2,)", "(3,)"});
  EXPECT_EQ(f.cache_size(), 0u);
  expect_near(f(floats({1, 2, 3})), {2, 4, 6});
}

TEST(Jit, MayBeCalledFromAnyThread) {
  std::atomic<int> traces = 0;
  const auto f = jit([&](const Array& x) {
    ++traces;
    return square(x);
  });
  std::vector<std::thread> threads;
  std::vector<double> found(8);
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) found[t] = f(Array(static_cast<double>(t))).item<double>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(traces, 1);
  for (std::size_t t = 0; t < found.size(); ++t) EXPECT_EQ(found[t], static_cast<double>(t * t));
}

TEST(EvalShape, GivesTypesAndComputesNothing) {
  const FlatFunction f = [](std::span<const Array> x) {
    return std::vector<Array>{matmul(x[0], x[1]), argmax(x[0])};
  };
  const std::vector<AbstractValue> in{{.shape = {100000, 300000}}, {.shape = {300000, 200000}}};
  const std::vector<AbstractValue> out = eval_shape(f, in);
  EXPECT_EQ(to_string(out.at(0)), "float32[100000,200000]");
  EXPECT_EQ(to_string(out.at(1)), "int32[]");
}

TEST(ShapeDtypeStruct, HasATypeAndNoElements) {
  const Array x = shape_dtype_struct({2, 3}, bfloat16);
  EXPECT_EQ(to_string(x.abstract_value()), "bfloat16[2,3]");
  expect_value_error([&] { (void)(x + 1.0); }, {"bfloat16[2,3]"});
  const auto f = jit([](const Array& a) { return a; }, {.name = "f"});
  expect_value_error([&] { (void)f(x); }, {"[f]", "bfloat16[2,3]", "traced"});
}

}  // namespace
}  // namespace lockstep
