#pragma once
// What batching rules share. A batched array has the batch as its axis 0; axes of one example are
// one further on in it.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/trace/primitive.h"

namespace lockstep {

// Axes of one example as axes of the batch.
std::vector<std::int64_t> shifted(std::span<const std::int64_t> axes);
// The same with the batch's own axis before them.
std::vector<std::int64_t> with_batch_axis(std::span<const std::int64_t> axes);
// `value` before the others: what a list with one entry for each axis becomes.
std::vector<std::int64_t> prepended(std::int64_t value, std::span<const std::int64_t> values);

// `x` repeated `size` times along a new axis 0.
Array repeated(const Array& x, std::int64_t size);
// Operand `index` with the batch as axis 0; repeated if it is not batched.
Array batched_operand(const BatchRequest& request, std::size_t index);
// All operands from `first` on.
std::vector<Array> batched_operands(const BatchRequest& request, std::size_t first = 0);
// Whether any operand from `first` on is batched.
bool any_batched(const BatchRequest& request, std::size_t first);

// The batch of a primitive that does the same to operands of any shape, element by element.
std::vector<Array> batch_elementwise(std::shared_ptr<const Primitive> primitive,
                                     const BatchRequest& request);

}  // namespace lockstep
