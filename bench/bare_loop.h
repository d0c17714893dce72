#pragma once
// The least that a program over the PJRT C API can do for each tiny step: what the Trainer is held
// against.
#include <cstdint>
#include <memory>

#include "lockstep/strategy/strategy.h"

namespace lockstep::bench {

// The tiny step, compiled as the trainer compiles it, driven by raw C API calls: per step one
// zero-copy batch buffer and one batch release a device, one execution, release of its events, of
// the donated state and of the metrics, and a wait for the step `max_in_flight` before.
class BareLoop {
 public:
  BareLoop(const std::shared_ptr<const Strategy>& strategy, std::int64_t max_in_flight);
  ~BareLoop();
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  // Runs so many steps and waits for the last.
  void run(std::int64_t steps);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::bench
