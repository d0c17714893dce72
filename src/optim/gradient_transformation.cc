#include "lockstep/optim/gradient_transformation.h"

#include <fmt/format.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/operators.h"
#include "lockstep/tree/algorithms.h"
#include "optim/leaves.h"

namespace lockstep::optim {

GradientTransformation stateless(
    std::function<Tree(const Tree& updates, const Tree& params)> update) {
  return {.init = [](const Tree&) { return Tree(); },
          .update = [update = std::move(update)](
                        const Tree& updates, const Tree& state,
                        const Tree& params) { return std::pair(update(updates, params), state); }};
}

GradientTransformation identity() {
  return stateless([](const Tree& updates, const Tree&) { return updates; });
}

GradientTransformation chain(std::vector<GradientTransformation> transformations) {
  const auto init = [transformations](const Tree& params) {
    Tree::List states;
    states.reserve(transformations.size());
    for (const GradientTransformation& link : transformations) states.push_back(link.init(params));
    return Tree(std::move(states));
  };
  const auto update = [transformations](const Tree& updates, const Tree& state,
                                        const Tree& params) {
    const std::size_t count = transformations.size();
    if (!state.is_list() || state.items().size() != count) {
      const std::string found = state.is_list() ? fmt::format("a list of {}", state.items().size())
                                                : std::string(state.kind());
      throw_value_error("chain",
                        fmt::format("the state of {} transformations is a list of {}, got {}; make "
                                    "it with the init of the same chain",
                                    count, count, found));
    }
    Tree passed_on = updates;
    Tree::List states(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::tie(passed_on, states[i]) = transformations[i].update(passed_on, state[i], params);
    }
    return std::pair(std::move(passed_on), Tree(std::move(states)));
  };
  return {.init = init, .update = update};
}

Tree apply_updates(const Tree& params, const Tree& updates) {
  check_like("apply_updates", "the parameters", params, "the updates", updates);
  return map_tree(
      [](const Array& p, const Array& u) {
        const Array moved = p + u;
        return moved.dtype() == p.dtype() ? moved : astype(moved, p.dtype());
      },
      params, updates);
}

}  // namespace lockstep::optim
