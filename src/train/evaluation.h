#pragma once
// One pass over a source with an evaluation step.
#include <cstdint>
#include <memory>
#include <optional>

#include "lockstep/data/data_source.h"
#include "lockstep/strategy/strategy.h"
#include "lockstep/train/logger.h"
#include "lockstep/train/step.h"

namespace lockstep {

// Evaluates over all devices of a strategy, and what does not divide among them on the root device.
// Programs are kept from pass to pass.
class Evaluation {
 public:
  Evaluation(const EvalFunction& step, std::shared_ptr<const Strategy> strategy);

  // The means over the rows of one pass, of at most `limit` batches. ValueError where there is
  // none.
  [[nodiscard]] Metrics run(const Tree& state, data::DataSource& source,
                            std::optional<std::int64_t> limit = {});

 private:
  struct Pass;
  void add(Pass& pass, CompiledStep& step, const Strategy& strategy, const Tree& state,
           const Tree& batch, std::int64_t rows);

  std::shared_ptr<const Strategy> strategy_;
  std::shared_ptr<const Strategy> root_strategy_;
  CompiledStep step_;
  CompiledStep root_step_;
};

}  // namespace lockstep
