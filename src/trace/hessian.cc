#include "lockstep/trace/hessian.h"

#include "lockstep/base/error.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/shape_ops.h"
#include "lockstep/trace/vjp.h"
#include "lockstep/trace/vmap.h"

namespace lockstep {
namespace {

// One array for each element of x: 1 there, 0 elsewhere.
Array unit_vectors(const Array& x) {
  const std::int64_t size = x.size();
  Shape shape{size};
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  return reshape(eye(size, {.dtype = x.dtype()}), shape);
}

void check_argument(std::string_view where, const Array& x) {
  if (!x.is_null() && is_floating(x.dtype())) return;
  throw_value_error(where, "the argument is " +
                               (x.is_null() ? "null" : to_string(x.abstract_value())) +
                               "; derivatives need floating-point inputs: convert it with astype");
}

}  // namespace

Array jacobian_forward(const std::function<Array(const Array&)>& function, const Array& x) {
  check_argument("jacfwd", x);
  const auto along = [&](const Array& v) { return jvp(function, x, v).second; };
  // The new axis goes last and is what x's axes were.
  const Array columns = vmap(along, {.out_axes = -1})(unit_vectors(x));
  Shape shape(columns.shape().begin(), columns.shape().end() - 1);
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  return reshape(columns, shape);
}

Array jacobian_reverse(const std::function<Array(const Array&)>& function, const Array& x) {
  check_argument("jacrev", x);
  const auto [value, pullback] = vjp(function, x);
  check_argument("jacrev", value);
  const auto row = [&pull = pullback](const Array& cotangent) { return pull(cotangent); };
  const Array rows = vmap(row)(unit_vectors(value));
  Shape shape = value.shape();
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  return reshape(rows, shape);
}

}  // namespace lockstep
