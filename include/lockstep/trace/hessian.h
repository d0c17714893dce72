#pragma once
/// Jacobians, Hessians and their products with vectors, of functions of arrays.
#include <functional>
#include <utility>

#include "lockstep/trace/grad.h"
#include "lockstep/trace/jvp.h"

namespace lockstep {

/// The Jacobian of a function of one array to one, column by column with `jvp`: shape
/// result.shape + x.shape. Costs one forward pass for each element of x.
[[nodiscard]] Array jacobian_forward(const std::function<Array(const Array&)>& function,
                                     const Array& x);
/// The same row by row with `vjp`: one backward pass for each element of the result.
[[nodiscard]] Array jacobian_reverse(const std::function<Array(const Array&)>& function,
                                     const Array& x);

/// `jacfwd(f)(x)`: the Jacobian in forward mode, for results with many elements. Shape
/// f(x).shape + x.shape. x must be floating.
template <class Function>
[[nodiscard]] auto jacfwd(Function function) {
  return [function = std::move(function)](const Array& x) {
    return jacobian_forward(function, x);
  };
}

/// `jacrev(f)(x)`: the Jacobian in reverse mode, for results with few elements. Shape f(x).shape +
/// x.shape. x must be floating.
template <class Function>
[[nodiscard]] auto jacrev(Function function) {
  return [function = std::move(function)](const Array& x) {
    return jacobian_reverse(function, x);
  };
}

/// `hessian(f)(x)`: the second derivatives, forward over reverse. Shape f(x).shape + x.shape +
/// x.shape.
template <class Function>
[[nodiscard]] auto hessian(Function function) {
  return jacfwd(jacrev(std::move(function)));
}

/// `hvp(f, x, v)`: the Hessian of a scalar function at x times v, without making the Hessian; of x's
/// type (an array or any tree). Forward over reverse: about three times the cost of f.
template <class Function, class Primal>
[[nodiscard]] auto hvp(const Function& function, const Primal& x, const Primal& v) {
  return jvp(grad(function), x, v).second;
}

}  // namespace lockstep
