// threefry2x32: the hash under all random numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lockstep/base/error.h"
#include "trace/batching.h"
#include "trace/primitives.h"
#include "trace/rule_support.h"
#include "trace/samples.h"

namespace lockstep {
namespace {

// Rotations of the rounds, four and four by turns, and the key schedule's parity constant (the
// paper named in random.h, section 3.3 and its table of rotations).
constexpr std::array<std::array<int, 4>, 2> rotations{{{13, 15, 26, 6}, {17, 29, 16, 24}}};
constexpr std::uint32_t parity = 0x1BD11BDA;

// Writes the hash as a function of two key words and two counters of one shape.
class HashWriter {
 public:
  HashWriter(ModuleBuilder& module, const AbstractValue& word)
      : body_(module), word_(word), type_(mlir_type(word)) {}

  std::string text(const std::string& name) {
    const std::array<std::string, 3> key{"%k0", "%k1",
                                         op("xor", op("xor", "%k0", "%k1"), literal(parity))};
    std::array<std::string, 2> x{op("add", "%x0", key[0]), op("add", "%x1", key[1])};
    for (std::size_t group = 0; group < 5; ++group) {
      for (const int distance : rotations[group % 2]) {
        x[0] = op("add", x[0], x[1]);
        x[1] = op("xor", rotate_left(x[1], distance), x[0]);
      }
      x[0] = op("add", x[0], key[(group + 1) % 3]);
      x[1] = op("add", op("add", x[1], key[(group + 2) % 3]),
                literal(static_cast<std::uint32_t>(group + 1)));
    }
    return fmt::format(
        "  func.func private @{0}(%k0: {1}, %k1: {1}, %x0: {1}, %x1: {1}) -> ({1}, {1}) {{\n"
        "{2}    \"func.return\"({3}, {4}) : ({1}, {1}) -> ()\n  }}\n",
        name, type_, body_.body(), x[0], x[1]);
  }

 private:
  std::string op(std::string_view mnemonic, const std::string& a, const std::string& b) {
    return body_.emit_one(fmt::format("stablehlo.{}", mnemonic), std::array{a, b},
                          std::array{word_, word_}, word_);
  }
  std::string literal(std::uint32_t value) { return body_.constant(word_, value); }
  std::string rotate_left(const std::string& x, int distance) {
    return op("or", op("shift_left", x, literal(static_cast<std::uint32_t>(distance))),
              op("shift_right_logical", x, literal(static_cast<std::uint32_t>(32 - distance))));
  }

  FunctionBuilder body_;
  AbstractValue word_;
  std::string type_;
};

class Threefry2x32 final : public Primitive {
 public:
  std::string_view name() const override { return "threefry2x32"; }

  std::vector<AbstractValue> infer(std::span<const AbstractValue> inputs) const override {
    check_num_inputs(name(), inputs, 3);
    const AbstractValue& key = inputs[0];
    if (key.dtype != DType::UInt32 || key.shape.empty() || key.shape.back() != 2) {
      throw_value_error(name(),
                        fmt::format("a key is uint32[2], but this is {}; make one with random::key",
                                    to_string(key)));
    }
    if (inputs[1].dtype != DType::UInt32 || inputs[1].shape != inputs[2].shape ||
        inputs[2].dtype != DType::UInt32) {
      throw_value_error(name(),
                        fmt::format("the counters must be two uint32 arrays of one shape, but they "
                                    "are {} and {}",
                                    to_string(inputs[1]), to_string(inputs[2])));
    }
    const std::size_t num_prefix = key.shape.size() - 1;
    if (inputs[1].shape.size() < num_prefix ||
        !std::equal(key.shape.begin(), key.shape.end() - 1, inputs[1].shape.begin())) {
      throw_value_error(name(), fmt::format("keys {} for counters {}: the axes before a key's last "
                                            "must be the first ones of the counters",
                                            to_string(key), to_string(inputs[1])));
    }
    return {of_type(DType::UInt32, inputs[1].shape), of_type(DType::UInt32, inputs[1].shape)};
  }

  std::vector<std::string> lower(FunctionBuilder& builder, std::span<const std::string> inputs,
                                 std::span<const AbstractValue> input_values,
                                 std::span<const AbstractValue> output_values) const override {
    const AbstractValue& word = output_values[0];
    std::string function = "threefry2x32";
    for (const std::int64_t length : word.shape) function += fmt::format("_{}", length);
    if (!builder.module().has_function(function)) {
      builder.module().add_function(function, HashWriter(builder.module(), word).text(function));
    }
    const std::array operands{key_word(builder, inputs[0], input_values[0], 0, word),
                              key_word(builder, inputs[0], input_values[0], 1, word), inputs[1],
                              inputs[2]};
    return builder.emit("func.call", operands, std::array{word, word, word, word}, output_values,
                        fmt::format("callee = @{}", function));
  }

  std::vector<Array> vjp(const VjpRequest& request) const override {
    return std::vector<Array>(request.inputs.size());
  }
  std::vector<Array> jvp(const JvpRequest& request) const override {
    return std::vector<Array>(request.outputs.size());
  }
  // One key for all examples serves counters of any shape.
  std::vector<Array> batch(const BatchRequest& request) const override {
    const bool is_shared = !request.batched[0] && request.inputs[0].ndim() == 1;
    return lockstep::apply(
        primitives::threefry2x32(),
        std::vector<Array>{is_shared ? request.inputs[0] : batched_operand(request, 0),
                           batched_operand(request, 1), batched_operand(request, 2)});
  }

 private:
  // Word `index` of the key (of each key), broadcast to the counters' shape.
  static std::string key_word(FunctionBuilder& builder, const std::string& key,
                              const AbstractValue& key_value, std::int64_t index,
                              const AbstractValue& word) {
    const std::size_t num_prefix = key_value.shape.size() - 1;
    const Shape prefix(key_value.shape.begin(), key_value.shape.end() - 1);
    Shape starts(num_prefix, 0);
    Shape limits = prefix;
    Shape taken = prefix;
    starts.push_back(index);
    limits.push_back(index + 1);
    taken.push_back(1);
    const AbstractValue one_word = of_type(DType::UInt32, taken);
    const AbstractValue words = of_type(DType::UInt32, prefix);
    const std::string part = builder.emit_one(
        "stablehlo.slice", std::array{key}, std::array{key_value}, one_word,
        fmt::format("start_indices = {}, limit_indices = {}, strides = {}", dense_i64(starts),
                    dense_i64(limits), dense_i64(Shape(num_prefix + 1, 1))));
    const std::string value =
        builder.emit_one("stablehlo.reshape", std::array{part}, std::array{one_word}, words);
    return builder.emit_one(
        "stablehlo.broadcast_in_dim", std::array{value}, std::array{words}, word,
        "broadcast_dimensions = " + dense_i64(range(static_cast<std::int64_t>(num_prefix))));
  }
};

}  // namespace

namespace primitives {
PrimitivePtr threefry2x32() {
  static const PrimitivePtr instance = std::make_shared<Threefry2x32>();
  return instance;
}
}  // namespace primitives

void add_threefry_kinds(std::vector<PrimitiveKind>& kinds) {
  kinds.push_back({.name = "threefry2x32",
                   .differentiability = Differentiability::Zero,
                   .refusal = {},
                   .samples = [](std::uint64_t seed) {
                     Sampler sampler(seed);
                     std::vector<PrimitiveSample> samples;
                     for (const std::int64_t ndim : {0, 1, 2}) {
                       const AbstractValue counter = of_type(DType::UInt32, sampler.shape(ndim));
                       samples.push_back(
                           {.primitive = primitives::threefry2x32(),
                            .inputs = {of_type(DType::UInt32, {2}), counter, counter}});
                     }
                     samples.push_back(
                         {.primitive = primitives::threefry2x32(),
                          .inputs = {of_type(DType::UInt32, {3, 2}), of_type(DType::UInt32, {3, 2}),
                                     of_type(DType::UInt32, {3, 2})}});
                     return samples;
                   }});
}

}  // namespace lockstep
