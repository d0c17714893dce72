#pragma once
/// Primitives: the pieces of a graph. An *op* is the function a user calls; it promotes, broadcasts
/// and checks, then applies primitives. A *primitive* knows its shape rule, its StableHLO and its
/// derivative. One primitive's rules stand side by side in one file of src/trace/primitives/.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep {

class FunctionBuilder;

/// What a reverse-mode rule is given. A null cotangent is a zero.
struct VjpRequest {
  std::span<const Array> inputs;
  std::span<const Array> outputs;
  std::span<const Array> cotangents;  ///< one for each output
  const std::vector<bool>& needed;    ///< one for each input: whether its cotangent is wanted
};

/// What a forward-mode rule is given. A null tangent is a zero; at least one is not null.
struct JvpRequest {
  std::span<const Array> inputs;
  std::span<const Array> outputs;
  std::span<const Array> tangents;  ///< one for each input
};

/// What a batching rule is given.
struct BatchRequest {
  std::span<const Array> inputs;     ///< a batched one has the batch as its axis 0
  const std::vector<bool>& batched;  ///< one for each input; at least one is
  std::int64_t size;                 ///< length of the batch
};

/// One primitive with its attributes. Immutable.
class Primitive {
 public:
  virtual ~Primitive() = default;

  /// Its name in the registry: "dot_general".
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Shape rule. ValueError "[name] what is wrong, shapes, hint".
  [[nodiscard]] virtual std::vector<AbstractValue> infer(
      std::span<const AbstractValue> inputs) const = 0;

  /// Emits its StableHLO. `inputs` are SSA names with the types of `input_values`; returns one
  /// SSA name for each output.
  [[nodiscard]] virtual std::vector<std::string> lower(
      FunctionBuilder& builder, std::span<const std::string> inputs,
      std::span<const AbstractValue> input_values,
      std::span<const AbstractValue> output_values) const = 0;

  /// As lower(), told for each output whether anything uses it: one that nothing uses may be left
  /// out (an empty name). The default leaves none out.
  [[nodiscard]] virtual std::vector<std::string> lower_used(
      FunctionBuilder& builder, std::span<const std::string> inputs,
      std::span<const AbstractValue> input_values, std::span<const AbstractValue> output_values,
      const std::vector<bool>& used) const;

  /// Cotangents of the inputs (null where not needed or zero), built of ops, so that they can be
  /// differentiated again. The default throws ValueError naming the primitive.
  [[nodiscard]] virtual std::vector<Array> vjp(const VjpRequest& request) const;

  /// Tangents of the outputs. The default throws ValueError naming the primitive.
  [[nodiscard]] virtual std::vector<Array> jvp(const JvpRequest& request) const;

  /// The outputs for a whole batch, each with the batch as its axis 0, built of ops. The default
  /// throws ValueError naming the primitive.
  [[nodiscard]] virtual std::vector<Array> batch(const BatchRequest& request) const;

  /// Its attributes as text: equal primitives have equal text. Part of cache keys and dumps.
  [[nodiscard]] virtual std::string attributes() const { return {}; }
};

/// Applies a primitive: checks shapes, then records it (inside a trace), or runs it (outside), or
/// both (on a gradient tape).
[[nodiscard]] std::vector<Array> apply(std::shared_ptr<const Primitive> primitive,
                                       std::span<const Array> inputs);
/// The same for primitives with one output.
[[nodiscard]] Array apply_one(std::shared_ptr<const Primitive> primitive,
                              std::span<const Array> inputs);

}  // namespace lockstep
