// (c) The Fashion-MNIST MLP in steps per second, from the peers' weights. --extras on: progress and
// CSV log.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "lockstep/lockstep.h"
#include "peer_numbers.h"
#include "peer_record.h"

namespace {

namespace ls = lockstep;

ls::Tree initial_params() {
  ls::Tree params;
  const std::int64_t sizes[] = {784, 512, 256, 10};
  for (std::size_t i = 0; i < 3; ++i) {
    ls::Tree& layer = params["layers_" + std::to_string(2 * i)];
    layer["kernel"] = ls::Array(ls::bench::glorot(0, i, sizes[i], sizes[i + 1]));
    layer["bias"] = ls::Array(ls::HostTensor::zeros(ls::DType::Float32, {sizes[i + 1]}));
  }
  return params;
}

}  // namespace

int main(int argc, char** argv) {
  const ls::bench::JobFlags flags = ls::bench::parse_flags(argc, argv, {});
  ls::set_cpu_device_count(flags.devices);
  const std::filesystem::path runs =
      std::filesystem::temp_directory_path() / ("lockstep-bench-" + std::to_string(::getpid()));
  const auto windows = std::make_shared<ls::bench::Windows>(50);
  ls::TrainerOptions options;
  options.max_steps = flags.steps;
  options.accelerator = "cpu";
  options.devices = ls::DeviceRequest::parse("auto");
  options.root_dir = flags.extras == "on" ? runs.string() : "";
  options.enable_progress_bar = flags.extras == "on";
  options.callbacks = {windows};

  ls::data::FashionMnistOptions files;
  if (!flags.data.empty()) files.data_dir = flags.data;
  ls::data::BatchLoader training(ls::data::fashion_mnist("train", files),
                                 {.batch_size = flags.batch});
  ls::data::BatchLoader test(ls::data::fashion_mnist("test", files),
                             {.batch_size = 1000, .shuffle = false, .drop_last = false});
  const ls::nn::Sequential model{ls::nn::Dense{512}, ls::nn::relu, ls::nn::Dense{256}, ls::nn::relu,
                                 ls::nn::Dense{10}};
  const ls::LossFunction loss = [&](const ls::Tree& params, const ls::Tree& batch,
                                    const ls::random::Key&) {
    const ls::Array logits = model.apply(params, batch["image"].leaf());
    return ls::Objective{
        .loss = ls::mean(ls::nn::softmax_cross_entropy(logits, batch["label"].leaf()))};
  };
  const ls::LossFunction accuracy = [&](const ls::Tree& params, const ls::Tree& batch,
                                        const ls::random::Key&) {
    return ls::Objective{
        .loss = ls::accuracy(model.apply(params, batch["image"].leaf()), batch["label"].leaf())};
  };
  ls::Trainer trainer(options);
  const ls::FitResult result = trainer.fit(
      loss, [](const ls::random::Key&, const ls::Tree&) { return initial_params(); },
      ls::optim::adam(1e-3), training);
  const double test_accuracy = trainer.evaluate(accuracy, result.state, test).at("loss");
  nlohmann::ordered_json record{
      {"job", "mlp"},         {"peer", "lockstep"},   {"devices", flags.devices},
      {"steps", flags.steps}, {"batch", flags.batch}, {"variant", "extras=" + flags.extras}};
  record.update(windows->record());
  record["test_accuracy"] = test_accuracy;
  record["peak_rss_mb"] = result.peak_memory_mb;
  std::puts(record.dump().c_str());
  std::error_code ignored;
  std::filesystem::remove_all(runs, ignored);
}
