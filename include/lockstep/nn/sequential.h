#pragma once
/// Layers one after the other.
#include <initializer_list>
#include <utility>
#include <vector>

#include "lockstep/nn/module.h"

namespace lockstep::nn {

/// Layers and plain functions, one after the other: `Sequential{Dense{512}, relu, Dense{10}}`.
/// Parameters: {layers_0: {...}, layers_2: {...}}, named by position as flax.linen.Sequential's;
/// layers without parameters have no entry. ValueError for an empty list.
class Sequential {
 public:
  Sequential(std::initializer_list<Module> layers) : Sequential(std::vector<Module>(layers)) {}
  explicit Sequential(std::vector<Module> layers);

  [[nodiscard]] Tree init(const Scope& scope, const AbstractValue& sample) const;
  [[nodiscard]] Tree init(const Scope& scope, const Array& sample) const {
    return init(scope, sample.abstract_value());
  }
  [[nodiscard]] Array apply(const Tree& params, const Array& x) const;
  /// As in training: dropout draws from `scope`.
  [[nodiscard]] Array apply(const Tree& params, const Array& x, const Scope& scope) const;

  [[nodiscard]] const std::vector<Module>& layers() const { return layers_; }

 private:
  [[nodiscard]] Array apply_layers(const Tree& params, const Array& x, const Scope* scope) const;

  std::vector<Module> layers_;
};

}  // namespace lockstep::nn
