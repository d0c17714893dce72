#pragma once
/// The embedding table.
#include <cstdint>
#include <optional>

#include "lockstep/nn/initializers.h"
#include "lockstep/nn/scope.h"

namespace lockstep::nn {

/// Rows of a table: integers of any shape to (shape..., features). Parameter: embedding
/// (num_embeddings, features). An index out of range gives NaN.
struct Embed {
  std::int64_t num_embeddings = 0;
  std::int64_t features = 0;
  std::optional<DType> dtype = {};  ///< type of the result; the table's unless given
  DType param_dtype = DType::Float32;
  /// Normal with variance 1 / features, flax.linen's default.
  Initializer embedding_init =
      initializers::variance_scaling({.distribution = initializers::Distribution::Normal,
                                      .axes = {.in_axis = {-2}, .out_axis = {0}}});

  [[nodiscard]] Tree init(Scope scope, const AbstractValue& sample) const;
  [[nodiscard]] Tree init(Scope scope, const Array& sample) const {
    return init(std::move(scope), sample.abstract_value());
  }
  /// ValueError for indices that are not integers.
  [[nodiscard]] Array apply(const Tree& params, const Array& indices) const;
  /// Products of (..., features) with every row of the table, (..., num_embeddings): logits that
  /// share the embedding's weights.
  [[nodiscard]] Array attend(const Tree& params, const Array& query) const;
};

}  // namespace lockstep::nn
