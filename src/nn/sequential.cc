#include "lockstep/nn/sequential.h"

#include <fmt/format.h>

#include <string>

#include "lockstep/base/error.h"
#include "lockstep/trace/record.h"

namespace lockstep::nn {
namespace {

std::string layer_name(std::size_t index) {
  return fmt::format("layers_{}", index);
}

}  // namespace

Sequential::Sequential(std::vector<Module> layers) : layers_(std::move(layers)) {
  if (layers_.empty()) throw_value_error("Sequential", "there are no layers; give at least one");
}

Tree Sequential::init(const Scope& scope, const AbstractValue& sample) const {
  Tree params = Tree::Dict{};
  AbstractValue input = sample;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = layer_name(i);
    Tree layer_params = layers_[i].init(scope.child(name), input);
    if (i + 1 < layers_.size()) {
      const auto output = [&](std::span<const Array> x) {
        return std::vector<Array>{layers_[i].apply(layer_params, x.front())};
      };
      input = eval_shape(output, std::span(&input, 1)).front();
    }
    const bool is_empty =
        layer_params.is_none() || (layer_params.is_dict() && layer_params.entries().empty());
    if (!is_empty) params[name] = std::move(layer_params);
  }
  return params;
}

Array Sequential::apply(const Tree& params, const Array& x) const {
  return apply_layers(params, x, nullptr);
}

Array Sequential::apply(const Tree& params, const Array& x, const Scope& scope) const {
  return apply_layers(params, x, &scope);
}

Array Sequential::apply_layers(const Tree& params, const Array& x, const Scope* scope) const {
  const Tree none;
  Array value = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = layer_name(i);
    const Tree& layer_params = params.contains(name) ? params[name] : none;
    value = scope == nullptr ? layers_[i].apply(layer_params, value)
                             : layers_[i].apply(layer_params, value, scope->child(name));
  }
  return value;
}

}  // namespace lockstep::nn
