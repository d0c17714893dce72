#include "trace/batching.h"

#include <utility>

#include "lockstep/trace/shape_ops.h"
#include "trace/rule_support.h"

namespace lockstep {

std::vector<std::int64_t> shifted(std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> moved(axes.begin(), axes.end());
  for (std::int64_t& axis : moved) ++axis;
  return moved;
}

std::vector<std::int64_t> with_batch_axis(std::span<const std::int64_t> axes) {
  return prepended(0, shifted(axes));
}

std::vector<std::int64_t> prepended(std::int64_t value, std::span<const std::int64_t> values) {
  std::vector<std::int64_t> all{value};
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

Array repeated(const Array& x, std::int64_t size) {
  return broadcast_in_dim(x, prepended(size, x.shape()), shifted(range(x.ndim())));
}

Array batched_operand(const BatchRequest& request, std::size_t index) {
  const Array& x = request.inputs[index];
  return request.batched[index] ? x : repeated(x, request.size);
}

std::vector<Array> batched_operands(const BatchRequest& request, std::size_t first) {
  std::vector<Array> all;
  for (std::size_t i = first; i < request.inputs.size(); ++i) {
    all.push_back(batched_operand(request, i));
  }
  return all;
}

bool any_batched(const BatchRequest& request, std::size_t first) {
  for (std::size_t i = first; i < request.batched.size(); ++i) {
    if (request.batched[i]) return true;
  }
  return false;
}

std::vector<Array> batch_elementwise(std::shared_ptr<const Primitive> primitive,
                                     const BatchRequest& request) {
  return lockstep::apply(std::move(primitive), batched_operands(request));
}

}  // namespace lockstep
