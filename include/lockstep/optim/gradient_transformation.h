#pragma once
/// Gradient transformations: the pieces that optimisers are made of, as in Optax.
#include <functional>
#include <utility>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep::optim {

/// Turns gradients into updates, with a state of its own.
///
/// `init(params)` makes the state. `update(updates, state, params)` gives the new updates, of the
/// structure, shapes and types of `updates`, and the new state, of the structure of `state`. Both
/// are made of ops, so they run inside and outside a trace. A state without leaves is None.
///
/// An optimiser is a transformation whose updates are ready to be added to the parameters: its sign
/// and learning rate are in them (see apply_updates).
struct GradientTransformation {
  std::function<Tree(const Tree& params)> init;
  std::function<std::pair<Tree, Tree>(const Tree& updates, const Tree& state, const Tree& params)>
      update;
};

/// A transformation without a state.
[[nodiscard]] GradientTransformation stateless(
    std::function<Tree(const Tree& updates, const Tree& params)> update);

/// Leaves the updates as they are.
[[nodiscard]] GradientTransformation identity();

/// One after the other; the state is the list of theirs. `update` throws ValueError for a state
/// that is not a list of as many.
[[nodiscard]] GradientTransformation chain(std::vector<GradientTransformation> transformations);

/// The same for transformations given one by one.
template <class... Transformations>
[[nodiscard]] GradientTransformation chain(GradientTransformation first,
                                           Transformations... others) {
  return chain(std::vector<GradientTransformation>{std::move(first), std::move(others)...});
}

/// params + updates, each leaf in its parameter's type. ValueError naming the path where structures
/// or shapes differ.
[[nodiscard]] Tree apply_updates(const Tree& params, const Tree& updates);

}  // namespace lockstep::optim
