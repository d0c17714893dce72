#pragma once
// Timing and reporting as the peers do it.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lockstep/train/callback.h"

namespace lockstep::bench {

// "--devices 2 --steps 501 --extras on" as numbers and words; unknown words end the program.
struct JobFlags {
  std::int64_t devices = 1;
  std::int64_t steps = 501;
  std::int64_t batch = 256;
  std::string extras = "off";
  std::string data;
};
JobFlags parse_flags(int argc, char** argv, JobFlags defaults);

// Seconds per step over windows of `every` steps; each window ends with the loss on the host. The
// first window is warm-up.
class Windows final : public Callback {
 public:
  explicit Windows(std::int64_t every) : every_(every) {}
  void on_train_step_end(FitContext& context) override;
  // Median, least and most of steps per second over the windows.
  [[nodiscard]] nlohmann::ordered_json record() const;
  [[nodiscard]] double last_loss() const { return last_loss_; }

 private:
  std::int64_t every_;
  double window_begin_ = 0;
  double last_loss_ = 0;
  std::vector<double> seconds_per_step_;
};

}  // namespace lockstep::bench
