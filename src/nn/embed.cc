#include "lockstep/nn/embed.h"

#include <fmt/format.h>

#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/indexing.h"
#include "lockstep/trace/linear_algebra.h"
#include "nn/parameters.h"

namespace lockstep::nn {

Tree Embed::init(Scope scope, const AbstractValue&) const {
  if (num_embeddings <= 0 || features <= 0) {
    throw_value_error("Embed", fmt::format("num_embeddings is {} and features {}; both must be "
                                           "positive",
                                           num_embeddings, features));
  }
  return Tree{
      {"embedding", embedding_init(scope.next_key(), {num_embeddings, features}, param_dtype)}};
}

Array Embed::apply(const Tree& params, const Array& indices) const {
  if (!is_integer(indices.dtype())) {
    throw_value_error("Embed", fmt::format("the indices are {}; they must be integers",
                                           to_string(indices.abstract_value())));
  }
  const Array& table = parameter("Embed", params, "embedding");
  const Array rows = take(table, indices, {.axis = 0});
  return dtype && *dtype != rows.dtype() ? astype(rows, *dtype) : rows;
}

Array Embed::attend(const Tree& params, const Array& query) const {
  const Array& table = parameter("Embed", params, "embedding");
  if (query.ndim() < 1 || table.ndim() != 2 || query.shape().back() != table.shape().back()) {
    throw_value_error("Embed",
                      fmt::format("the query has shape {} and the table {}; their last axes "
                                  "must be equal",
                                  to_string(query.shape()), to_string(table.shape())));
  }
  const std::vector<Array> operands = promote_dtype({query, table}, dtype);
  return dot_general(operands[0], operands[1],
                     {.lhs_contracting = {query.ndim() - 1}, .rhs_contracting = {1}});
}

}  // namespace lockstep::nn
