#pragma once
// The built-in jobs of `lockstep train`, one file each.
#include <map>
#include <string>

#include "lockstep/train/fit_result.h"
#include "train_options.h"

namespace lockstep::cli {

// What a job gives back beside the fit's own figures.
struct JobResult {
  FitResult fit;
  std::string strategy;
  std::vector<std::string> devices;
  // The job's own measures by their names in the JSON: "test_loss", "test_accuracy".
  std::map<std::string, double> measures;
};

struct FashionMnistOptions {
  std::string model = "mlp";  // or "cnn"
};

// Trains a classifier on Fashion-MNIST and evaluates it on the test set.
JobResult train_fashion_mnist(const TrainOptions& options, const FashionMnistOptions& job);

}  // namespace lockstep::cli
