#pragma once
/// Where in a model something is made, and the random keys that belong to the place.
#include <cstdint>
#include <string>
#include <string_view>

#include "lockstep/trace/random.h"

namespace lockstep::nn {

/// A key with a place in the model: what a module draws its parameters (or its dropout masks) from.
///
/// The rule is flax.linen's, so that parameters equal Flax's bit for bit: the n-th key taken at a
/// place, n = 1, 2, ..., is fold_in(root, h), where h is the first four bytes (big-endian) of the
/// SHA-1 of the names on the way to the place, joined without a separator, followed by n
/// (big-endian, without leading zero bytes). Parameters of a module are drawn in the order in which
/// Flax declares them (kernel, then bias); one that is constant takes its key too.
class Scope {
 public:
  /// The root of a model: `model.init(random::key(0), x)`.
  Scope(random::Key key) : root_(std::move(key)) {}  // NOLINT: a key is the scope of a whole model

  /// The place of the submodule `name`.
  [[nodiscard]] Scope child(std::string_view name) const;
  /// The next key of this place.
  [[nodiscard]] random::Key next_key();

 private:
  random::Key root_;
  std::string path_;
  std::uint32_t keys_taken_ = 0;
};

}  // namespace lockstep::nn
