#pragma once
// The peers' dispatch job: two 16x16 states, one 16x16 batch, a product, its gradient, momentum.
#include <vector>

#include "lockstep/trace/grad.h"
#include "lockstep/trace/ops.h"
#include "lockstep/train/step.h"
#include "peer_numbers.h"

namespace lockstep::bench {

inline Tree tiny_state() {
  return Tree{{"m", Array(HostTensor::zeros(DType::Float32, {16, 16}))},
              {"w", Array(glorot(0, 0, 16, 16))}};
}

inline StepOutput tiny_step(const Tree& state, const Tree& batch) {
  const auto loss = [&](const Array& w) { return mean(square(matmul(batch["x"].leaf(), w))); };
  const auto [value, gradient] = value_and_grad(loss)(state["w"].leaf());
  const Array m = 0.9F * state["m"].leaf() + gradient;
  return {.state = Tree{{"m", m}, {"w", state["w"].leaf() - 0.01F * m}},
          .metrics = Tree{{"loss", value}}};
}

// Eight batches, used in turn.
inline const std::vector<Tree>& tiny_batches() {
  static const std::vector<Tree> batches = [] {
    std::vector<Tree> made;
    for (std::uint64_t i = 0; i < 8; ++i)
      made.push_back(Tree{{"x", Array(uniform(0, 10 + i, {16, 16}, -1, 1))}});
    return made;
  }();
  return batches;
}

}  // namespace lockstep::bench
