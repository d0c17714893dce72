#pragma once
/// What a loss is: a function of parameters, a global batch and a random key.
#include <functional>
#include <map>
#include <string>

#include "lockstep/array/array.h"
#include "lockstep/trace/random.h"

namespace lockstep {

/// A loss to be minimised, and metrics to be watched. All are scalars.
struct Objective {
  Array loss;
  std::map<std::string, Array> metrics = {};
};

/// Written for the whole (global) batch: the mean of a loss is the mean over every device's rows.
/// The key is another one at every step, the same for the same seed.
using LossFunction =
    std::function<Objective(const Tree& params, const Tree& batch, const random::Key& key)>;

}  // namespace lockstep
