// (d) Microseconds per step of a tiny step through the Trainer, batch placement included.
#include <cstdio>

#include "lockstep/lockstep.h"
#include "peer_record.h"
#include "tiny_step.h"

int main(int argc, char** argv) {
  namespace ls = lockstep;
  const ls::bench::JobFlags flags =
      ls::bench::parse_flags(argc, argv, {.steps = 10001, .batch = 16});
  ls::set_cpu_device_count(flags.devices);
  const auto windows = std::make_shared<ls::bench::Windows>(500);
  ls::TrainerOptions options;
  options.max_steps = flags.steps;
  options.accelerator = "cpu";
  options.devices = ls::DeviceRequest::parse("auto");
  options.root_dir = "";
  options.enable_progress_bar = false;
  options.log_every_n_steps = 1'000'000;
  options.callbacks = {windows};
  ls::data::FunctionSource source([](std::int64_t index) {
    return ls::bench::tiny_batches()[static_cast<std::size_t>(index) & 7U];
  });
  static_cast<void>(
      ls::Trainer(options).fit(ls::bench::tiny_step, ls::bench::tiny_state(), source));
  nlohmann::ordered_json record{{"job", "dispatch"},
                                {"peer", "lockstep"},
                                {"devices", flags.devices},
                                {"steps", flags.steps}};
  record.update(windows->record());
  std::puts(record.dump().c_str());
}
