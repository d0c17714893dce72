// Draws against JAX's, bit for bit (expected_random.h, written by make_expected_random.py).
#include "lockstep/trace/random.h"

#include <cstring>
#include <map>
#include <set>

#include "lockstep/trace/grad.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"
#include "trace/expected_random.h"
#include "trace/trace_test_support.h"

namespace lockstep::random {
namespace {

// A draw from a key that the compiled program gets as an argument.
struct Draw {
  std::uint64_t seed;
  std::function<Array(const Key&)> from;
};

void add_key_cases(std::map<std::string, Draw>& draws) {
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{42}, std::uint64_t{0xFFFFFFFF},
        std::uint64_t{0x100000000}, std::uint64_t{0x123456789ABCDEF0}}) {
    draws["key_" + std::to_string(seed)] = {seed, [](const Key& k) { return k.data(); }};
  }
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{42}}) {
    const std::string text = std::to_string(seed);
    for (const std::int64_t num : {0, 1, 2, 3, 7}) {
      draws["split_" + text + "_" + std::to_string(num)] = {
          seed, [num](const Key& k) { return split_data(k, num); }};
    }
    for (const std::uint32_t number : {0u, 1u, 7u, 0x80000000u, 0xFFFFFFFFu}) {
      draws["fold_in_" + text + "_" + std::to_string(number)] = {
          seed, [number](const Key& k) { return fold_in(k, HostTensor::scalar(number)).data(); }};
    }
  }
  draws["fold_in_negative"] = {5, [](const Key& k) { return fold_in(k, -3).data(); }};
}

void add_float_cases(std::map<std::string, Draw>& draws) {
  for (const DType dtype : {float16, bfloat16, float32, float64}) {
    const std::string name(to_string(dtype));
    draws["uniform_" + name] = {3, [=](const Key& k) { return uniform(k, {9}, dtype); }};
    draws["uniform_range_" + name] = {4, [=](const Key& k) {
                                        return uniform(k, {3, 2}, dtype, -2.5, 7.0);
                                      }};
    draws["uniform_scalar_" + name] = {0x123456789ABCDEF0,
                                       [=](const Key& k) { return uniform(k, {}, dtype); }};
    draws["normal_" + name] = {3, [=](const Key& k) { return normal(k, {33}, dtype); }};
    draws["normal_scalar_" + name] = {11, [=](const Key& k) { return normal(k, {}, dtype); }};
    draws["truncated_normal_" + name] = {
        5, [=](const Key& k) { return truncated_normal(k, -2.0, 1.5, {9}, dtype); }};
  }
  draws["bernoulli"] = {10,
                        [](const Key& k) { return bernoulli(k, HostTensor::scalar(0.3f), {20}); }};
  draws["bernoulli_array"] = {10, [](const Key& k) {
                                return bernoulli(k, floats({0.0f, 0.2f, 0.8f, 1.0f}), {5, 4});
                              }};
}

void add_integer_cases(std::map<std::string, Draw>& draws) {
  const std::map<std::string, Shape> shapes = {
      {"scalar", {}}, {"1", {1}}, {"5", {5}}, {"2x3", {2, 3}}, {"0x2", {0, 2}}};
  for (const DType dtype : {uint8, uint16, uint32, uint64}) {
    for (const auto& [text, shape] : shapes) {
      draws["bits_" + std::string(to_string(dtype)) + "_" + text] = {
          7, [=, shape = shape](const Key& k) { return bits(k, shape, dtype); }};
    }
  }
  for (const DType dtype : {int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
    const std::string name(to_string(dtype));
    draws["randint_" + name] = {6, [=](const Key& k) { return randint(k, {9}, 3, 100, dtype); }};
    draws["randint_small_" + name] = {6, [=](const Key& k) {
                                        return randint(k, {2, 2}, 0, 2, dtype);
                                      }};
    draws["randint_empty_" + name] = {6,
                                      [=](const Key& k) { return randint(k, {3}, 5, 5, dtype); }};
    if (bit_width(dtype) == 64) continue;
    const std::int64_t values = std::int64_t{1} << bit_width(dtype);
    const std::int64_t least = is_signed_integer(dtype) ? -values / 2 : 0;
    draws["randint_whole_" + name] = {
        8, [=](const Key& k) { return randint(k, {7}, least, least + values, dtype); }};
  }
  draws["randint_negative"] = {9, [](const Key& k) { return randint(k, {6}, -50, -3); }};
}

const std::map<std::string, Draw>& draws() {
  static const std::map<std::string, Draw> all = [] {
    std::map<std::string, Draw> made;
    add_key_cases(made);
    add_float_cases(made);
    add_integer_cases(made);
    return made;
  }();
  return all;
}

std::vector<std::uint64_t> bits_of(const Array& array) {
  const HostTensor tensor = array.to_host().contiguous();
  const std::size_t width = byte_size(tensor.dtype());
  std::vector<std::uint64_t> words(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::memcpy(&words[i], tensor.data() + i * width, width);
  }
  return words;
}

void expect_draw(const std::string& name, const Array& found) {
  SCOPED_TRACE(name);
  const ExpectedDraw& expected = expected_draws.at(name);
  EXPECT_EQ(to_string(found.dtype()), expected.dtype);
  EXPECT_EQ(found.shape(), expected.shape);
  EXPECT_EQ(bits_of(found), expected.bits);
}

TEST(Random, EveryExpectedDrawIsMade) {
  std::set<std::string> made;
  for (const auto& [name, draw] : draws()) made.insert(name);
  std::set<std::string> expected;
  for (const auto& [name, bits] : expected_draws) expected.insert(name);
  EXPECT_EQ(made, expected);
}

// The elements behind expected bits, as doubles.
std::vector<double> numbers_of(const ExpectedDraw& expected) {
  HostTensor tensor = HostTensor::empty(dtype_from_string(expected.dtype), expected.shape);
  const std::size_t width = byte_size(tensor.dtype());
  std::byte* const bytes = tensor.mutable_bytes();
  for (std::size_t i = 0; i < expected.bits.size(); ++i) {
    std::memcpy(bytes + i * width, &expected.bits[i], width);
  }
  return as_doubles(tensor);
}

// The last bits of erf and its inverse are the compiler's, and JAX 0.10.2 has another version of
// it.
void expect_draw_to_rounding(const std::string& name, const Array& found) {
  SCOPED_TRACE(name);
  const ExpectedDraw& expected = expected_draws.at(name);
  EXPECT_EQ(to_string(found.dtype()), expected.dtype);
  const std::map<DType, int> fraction_bits = {
      {bfloat16, 7}, {float16, 10}, {float32, 23}, {float64, 52}};
  expect_near(found, numbers_of(expected), std::ldexp(16, -fraction_bits.at(found.dtype())));
}

TEST(Random, CompiledDrawsEqualJaxBitForBit) {
  for (const auto& [name, draw] : draws()) {
    const Array found = jit([&draw = draw](const Key& k) { return draw.from(k); })(key(draw.seed));
    if (name == "normal_float64" || name == "truncated_normal_float32" ||
        name == "truncated_normal_float64") {
      expect_draw_to_rounding(name, found);
    } else {
      expect_draw(name, found);
    }
  }
}

// Op by op a product and a sum are rounded twice, where a compiled draw fuses them; all draws whose
// arithmetic is exact are the same.
TEST(Random, EagerDrawsEqualJax) {
  for (const auto& [name, draw] : draws()) {
    const bool rounds = name.starts_with("normal") || name.starts_with("truncated_normal") ||
                        name.starts_with("uniform_range");
    const Array found = draw.from(key(draw.seed));
    rounds ? expect_draw_to_rounding(name, found) : expect_draw(name, found);
  }
}

TEST(Random, SplitGivesTheRowsOfSplitData) {
  const std::vector<Key> keys = split(key(3), 4);
  ASSERT_EQ(keys.size(), 4u);
  const std::vector<std::uint64_t> rows = bits_of(split_data(key(3), 4));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bits_of(keys[i].data()), (std::vector{rows[2 * i], rows[2 * i + 1]}));
  }
  EXPECT_EQ(split(key(3)).size(), 2u);
}

TEST(Random, AShorterDrawIsAPrefixOfALongerOne) {
  std::vector<std::uint64_t> longer = bits_of(bits(key(1), {100}));
  longer.resize(37);
  EXPECT_EQ(bits_of(bits(key(1), {37})), longer);
}

TEST(Random, ADrawDoesNotChangeTheKey) {
  const Key k = key(12);
  EXPECT_EQ(bits_of(bits(k, {4})), bits_of(bits(k, {4})));
}

TEST(Random, FoldInTakesAComputedNumber) {
  const auto folded = jit([](const Key& k, const Array& step) { return fold_in(k, step); });
  for (const std::int32_t step : {0, 1, 100000}) {
    EXPECT_EQ(bits_of(folded(key(9), HostTensor::scalar(step)).data()),
              bits_of(fold_in(key(9), step).data()));
  }
  EXPECT_EQ(bits_of(fold_in(key(9), HostTensor::scalar(std::int64_t{0x100000007})).data()),
            bits_of(fold_in(key(9), 7).data()));
}

TEST(Random, UniformIsDifferentiableByItsBounds) {
  const auto total = [](const Array& low, const Array& high) {
    return sum(uniform(key(2), {50}, float32, low, high));
  };
  const auto [by_low, by_high] =
      grad<0, 1>(total)(HostTensor::scalar(-1.0f), HostTensor::scalar(2.0f));
  const double drawn = sum(uniform(key(2), {50})).item<double>();
  expect_near(by_high, {drawn}, 1e-5);
  expect_near(by_low, {50 - drawn}, 1e-5);
}

// The moments of enough numbers: a wrong transformation of right bits shows here.
TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  const Array x = normal(key(0), {100000});
  EXPECT_NEAR(mean(x).item<double>(), 0, 0.01);
  EXPECT_NEAR(var(x).item<double>(), 1, 0.02);
  EXPECT_NEAR(mean(power(x, 4)).item<double>(), 3, 0.1);
}

TEST(Random, BoundsHold) {
  const Array u = uniform(key(0), {100000}, float32, 1.0, 1.5);
  EXPECT_GE(min(u).item<float>(), 1.0f);
  EXPECT_LT(max(u).item<float>(), 1.5f);
  const Array t = truncated_normal(key(0), -0.5, 2, {100000});
  EXPECT_GT(min(t).item<float>(), -0.5f);
  EXPECT_LT(max(t).item<float>(), 2.0f);
}

// More elements than 32 bits count: the counters get a high word. Too large to run.
TEST(Random, DrawsOfMoreThan32BitsOfElementsCountIn64) {
  const std::string text = jit([](const Key& k) {
                             return sum(bits(k, {3, 2147483648}));
                           }).lower(key(0));
  EXPECT_THAT(text, ::testing::HasSubstr("tensor<6442450944xui64>"));
}

TEST(Random, KeysAreCheckedByTypeAndShape) {
  expect_value_error(
      [] {
        (void)Key(ints({1, 2}));
      },
      {"[random::Key]", "uint32[2]", "int32[2]", "random::key"});
  expect_value_error([] { (void)Key(zeros({3}, uint32)); }, {"[random::Key]", "uint32[3]"});
  expect_value_error([] { (void)Key(Array()); }, {"[random::Key]", "unassigned"});
}

TEST(Random, MisuseIsNamed) {
  const Key k = key(0);
  expect_value_error([&] { (void)split(k, -1); }, {"[random::split]", "-1", "0 or more"});
  expect_value_error([&] { (void)fold_in(k, 1.5); },
                     {"[random::fold_in]", "float32[]", "integer scalar"});
  expect_value_error([&] { (void)fold_in(k, ints({1, 2})); }, {"[random::fold_in]", "int32[2]"});
  expect_value_error([&] { (void)bits(k, {2}, int32); }, {"[random::bits]", "int32", "uint32"});
  expect_value_error([&] { (void)bits(k, {2}, DType::UInt1); }, {"[random::bits]", "uint1"});
  expect_value_error([&] { (void)bits(k, {-2}); }, {"(-2,)", "negative"});
  expect_value_error([&] { (void)uniform(k, {2}, int32); },
                     {"[random::uniform]", "int32", "float32"});
  expect_value_error([&] { (void)normal(k, {2}, complex64); },
                     {"[random::normal]", "complex64", "float64"});
  expect_value_error([&] { (void)truncated_normal(k, 1, 1, {2}); },
                     {"[random::truncated_normal]", "lower is 1", "upper 1", "lower < upper"});
  expect_value_error([&] { (void)randint(k, {2}, 0, 300, uint8); },
                     {"[random::randint]", "[0, 300)", "uint8", "0 to 255"});
  expect_value_error([&] { (void)randint(k, {2}, -129, 5, int8); },
                     {"[random::randint]", "[-129, 5)", "-128 to 127"});
  expect_value_error([&] { (void)randint(k, {2}, 0, 5, float32); },
                     {"[random::randint]", "integers", "float32"});
  expect_value_error([&] { (void)uniform(k, {2}, float32, floats({1, 2, 3})); }, {"(2,)", "(3,)"});
}

}  // namespace
}  // namespace lockstep::random
