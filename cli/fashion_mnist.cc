// `lockstep train fashion-mnist`: a classifier of 28 by 28 images in ten classes.
#include "lockstep/data/fashion_mnist.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "jobs.h"
#include "lockstep/data/loader.h"
#include "lockstep/nn/nn.h"
#include "lockstep/optim/adam.h"
#include "lockstep/train/trainer.h"
#include "train_options.h"

namespace lockstep::cli {
namespace {

constexpr std::int64_t default_batch_size = 256;
constexpr double default_learning_rate = 1e-3;

nn::Module mlp() {
  return nn::Sequential{nn::Dense{512}, nn::relu, nn::Dense{256}, nn::relu, nn::Dense{10}};
}

nn::Module cnn() {
  const nn::MaxPool halve{{.window_shape = {2, 2}, .strides = {2, 2}}};
  return nn::Sequential{nn::Conv{.features = 32, .kernel_size = {3, 3}},
                        nn::relu,
                        halve,
                        nn::Conv{.features = 64, .kernel_size = {3, 3}},
                        nn::relu,
                        halve,
                        nn::Flatten{},
                        nn::Dense{128},
                        nn::relu,
                        nn::Dense{10}};
}

LossFunction classification_loss(nn::Module model) {
  return [model = std::move(model)](const Tree& params, const Tree& batch, const random::Key&) {
    const Array logits = model.apply(params, batch["image"].leaf());
    const Array& labels = batch["label"].leaf();
    return Objective{.loss = mean(nn::softmax_cross_entropy_with_integer_labels(logits, labels)),
                     .metrics = {{"accuracy", accuracy(logits, labels)}}};
  };
}

// The step at which the options end training.
std::int64_t last_step(const TrainerOptions& options, std::int64_t steps_per_epoch) {
  std::int64_t last = options.max_steps.value_or(std::numeric_limits<std::int64_t>::max());
  if (options.max_epochs) last = std::min(last, *options.max_epochs * steps_per_epoch);
  return std::max<std::int64_t>(last, 1);
}

}  // namespace

JobResult train_fashion_mnist(const TrainOptions& options, const FashionMnistOptions& job) {
  const bool is_cnn = job.model == "cnn";
  data::FashionMnistOptions files{.flatten = !is_cnn};
  if (!options.data_dir.empty()) files.data_dir = options.data_dir;

  TrainerOptions trainer_options = to_trainer_options(options, "fashion-mnist");
  if (!trainer_options.max_steps && !trainer_options.max_epochs)
    trainer_options.max_epochs = is_cnn ? 5 : 10;

  const std::int64_t batch_size = options.batch_size.value_or(default_batch_size);
  data::BatchLoader training(data::fashion_mnist("train", files),
                             {.batch_size = batch_size, .seed = options.seed});
  // Evaluation has no gradients to keep, so larger batches serve it better.
  const data::Dataset test_set = data::fashion_mnist("test", files);
  data::BatchLoader test(test_set, {.batch_size = std::min<std::int64_t>(1000, test_set.num_rows()),
                                    .shuffle = false,
                                    .drop_last = false});

  const optim::Schedule learning_rate = optim::cosine_decay_schedule(
      {.init_value = options.learning_rate.value_or(default_learning_rate),
       .decay_steps = last_step(trainer_options, training.batches_per_epoch().value_or(1))});
  const nn::Module model = is_cnn ? cnn() : mlp();
  const LossFunction loss = classification_loss(model);

  Trainer trainer(std::move(trainer_options));
  JobResult result;
  result.fit = trainer.fit(loss, model, optim::adam(learning_rate), training, &test);
  result.strategy = trainer.strategy().to_string();
  for (const Device& device : trainer.strategy().devices())
    result.devices.push_back(device.to_string());
  // A fit that came to its end was validated there, on these rows.
  const Metrics metrics = result.fit.interrupted ? trainer.evaluate(loss, result.fit.state, test)
                                                 : result.fit.validation_metrics;
  for (const auto& [name, value] : metrics) result.measures["test_" + name] = value;
  return result;
}

}  // namespace lockstep::cli
