// `lockstep train JOB`: the built-in jobs, their options and their result.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "jobs.h"
#include "lockstep/base/number_text.h"
#include "lockstep/pjrt/runtime.h"
#include "train_options.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::string& job, const JobResult& result) {
  const FitResult& fit = result.fit;
  const auto loss = fit.metrics.find("loss");
  Json json{{"job", job},
            {"strategy", result.strategy},
            {"devices", result.devices},
            {"processes", process_count()},
            {"steps", fit.steps},
            {"state_step", fit.step},
            {"epochs", fit.epochs},
            {"train_loss", loss == fit.metrics.end() ? Json() : Json(loss->second)}};
  for (const auto& [name, value] : result.measures) json[name] = value;
  json.update(Json{{"steps_per_second", fit.steps_per_second},
                   {"examples_per_second", fit.examples_per_second},
                   {"compile_seconds", fit.compile_seconds},
                   {"first_step_seconds", fit.first_step_seconds},
                   {"wall_seconds", fit.wall_seconds},
                   {"peak_memory_mb", fit.peak_memory_mb},
                   {"interrupted", fit.interrupted},
                   {"checkpoint", nullptr},
                   {"run_dir", fit.run_dir.empty() ? Json() : Json(fit.run_dir.string())}});
  return json;
}

// Prints the result; a run that SIGINT ended dies of that signal, so that a shell sees it (130).
int report(const std::string& job, const TrainOptions& options, const JobResult& result) {
  if (options.json) {
    fmt::print("{}\n", to_json(job, result).dump());
  } else {
    for (const auto& [name, value] : result.measures)
      fmt::print("{} {}\n", name, number_text(value));
    if (!result.fit.run_dir.empty()) fmt::print("run_dir {}\n", result.fit.run_dir.string());
  }
  if (!result.fit.interrupted) return exit_done;
  std::fflush(nullptr);
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
  return exit_failed;
}

}  // namespace

std::function<int()> add_train_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train a built-in job");
  command->require_subcommand(1);

  auto options = std::make_shared<TrainOptions>();
  auto job = std::make_shared<FashionMnistOptions>();
  CLI::App* fashion = command->add_subcommand("fashion-mnist", "Classify Fashion-MNIST images");
  fashion->add_option("--model", job->model, "mlp (784-512-256-10) or cnn")
      ->check(CLI::IsMember({"mlp", "cnn"}))
      ->capture_default_str()
      ->group("Job");
  add_train_options(*fashion, *options);

  return [options, job] {
    return report("fashion-mnist", *options, train_fashion_mnist(*options, *job));
  };
}

}  // namespace lockstep::cli
