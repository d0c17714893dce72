#include "peer_record.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "clock.h"
#include "lockstep/base/number_text.h"

namespace lockstep::bench {
JobFlags parse_flags(int argc, char** argv, JobFlags flags) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = argv[i + 1];
    const std::int64_t number = parse_integer(value).value_or(0);
    if (name == "--devices") {
      flags.devices = number;
    } else if (name == "--steps") {
      flags.steps = number;
    } else if (name == "--batch") {
      flags.batch = number;
    } else if (name == "--extras") {
      flags.extras = value;
    } else if (name == "--data") {
      flags.data = value;
    } else {
      std::fprintf(stderr, "unknown flag %s\n", argv[i]);
      std::exit(2);
    }
  }
  return flags;
}

void Windows::on_train_step_end(FitContext& context) {
  if ((context.step() - 1) % every_ != 0) return;
  last_loss_ = context.metrics().at("loss");
  const double time = now();
  if (context.step() > 1) {
    seconds_per_step_.push_back((time - window_begin_) / static_cast<double>(every_));
  }
  window_begin_ = time;
}

nlohmann::ordered_json Windows::record() const {
  const bool has_warm_up = seconds_per_step_.size() >= 3;
  std::vector<double> kept(seconds_per_step_.begin() + (has_warm_up ? 1 : 0),
                           seconds_per_step_.end());
  if (kept.empty()) return {};
  std::sort(kept.begin(), kept.end());
  const double median = kept[kept.size() / 2];
  return {{"steps_per_s", 1 / median},
          {"steps_per_s_min", 1 / kept.back()},
          {"steps_per_s_max", 1 / kept.front()},
          {"us_per_step", 1e6 * median},
          {"windows", kept.size()},
          {"final_train_loss", last_loss_}};
}

}  // namespace lockstep::bench
