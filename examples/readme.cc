#include <lockstep/lockstep.h>

#include <iostream>

namespace ls = lockstep;

int main() {
  ls::set_cpu_device_count(2);
  ls::data::BatchLoader training(ls::data::fashion_mnist("train"), {.batch_size = 256});
  ls::data::BatchLoader test(ls::data::fashion_mnist("test"),
                             {.batch_size = 1000, .shuffle = false});

  const ls::nn::Sequential model{ls::nn::Dense{512}, ls::nn::relu, ls::nn::Dense{256}, ls::nn::relu,
                                 ls::nn::Dense{10}};
  const auto loss = [&](const ls::Tree& params, const ls::Tree& batch, const ls::random::Key&) {
    const ls::Array logits = model.apply(params, batch["image"]);
    const ls::Array value = ls::mean(ls::nn::softmax_cross_entropy(logits, batch["label"]));
    return ls::Objective{value, {{"accuracy", ls::accuracy(logits, batch["label"])}}};
  };

  ls::Trainer trainer({.max_epochs = 5, .strategy = ls::create_strategy("cpu", "auto")});
  const ls::FitResult result = trainer.fit(loss, model, ls::optim::adam(1e-3), training, &test);
  std::cout << "test accuracy " << result.validation_metrics.at("accuracy") << '\n';
}
