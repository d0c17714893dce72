#pragma once
/// Module: any layer, as a value.
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "lockstep/array/array.h"
#include "lockstep/nn/scope.h"

namespace lockstep::nn {

/// What a layer with parameters has: `init` makes them for a sample of the input (only its shape
/// and type matter), `apply` computes. A layer without parameters may give None.
template <class M>
concept Layer = requires(const M& module, const Scope& scope, const AbstractValue& sample,
                         const Tree& params, const Array& x) {
  { module.init(scope, sample) } -> std::convertible_to<Tree>;
  { module.apply(params, x) } -> std::convertible_to<Array>;
};

/// What a layer has that behaves otherwise in training, as Dropout: `apply` with the scope of the
/// random keys it may use.
template <class M>
concept RandomLayer =
    Layer<M> && requires(const M& module, const Scope& scope, const Tree& params, const Array& x) {
      { module.apply(params, x, scope) } -> std::convertible_to<Array>;
    };

/// A layer of any kind: one of this library, a type of your own with `init` and `apply`, or a plain
/// function of an array such as relu. A value; copies share the layer.
class Module {
 public:
  template <class T>
    requires(!std::same_as<std::remove_cvref_t<T>, Module> &&
             (Layer<std::remove_cvref_t<T>> ||
              std::is_invocable_r_v<Array, const T&, const Array&>))
  Module(T layer) : impl_(std::make_shared<Holder<T>>(std::move(layer))) {}  // NOLINT

  /// The parameters for inputs like `sample`; None where there are none.
  [[nodiscard]] Tree init(const Scope& scope, const AbstractValue& sample) const {
    return impl_->init(scope, sample);
  }
  [[nodiscard]] Tree init(const Scope& scope, const Array& sample) const {
    return impl_->init(scope, sample.abstract_value());
  }
  /// The output, as in evaluation: dropout lets everything through.
  [[nodiscard]] Array apply(const Tree& params, const Array& x) const {
    return impl_->apply(params, x, nullptr);
  }
  /// The output, as in training: dropout draws from `scope` (a key will do).
  [[nodiscard]] Array apply(const Tree& params, const Array& x, const Scope& scope) const {
    return impl_->apply(params, x, &scope);
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    [[nodiscard]] virtual Tree init(const Scope& scope, const AbstractValue& sample) const = 0;
    [[nodiscard]] virtual Array apply(const Tree& params, const Array& x,
                                      const Scope* scope) const = 0;
  };

  template <class T>
  struct Holder final : Interface {
    explicit Holder(T value) : layer(std::move(value)) {}
    [[nodiscard]] Tree init([[maybe_unused]] const Scope& scope,
                            [[maybe_unused]] const AbstractValue& sample) const override {
      if constexpr (Layer<T>) {
        return layer.init(scope, sample);
      } else {
        return {};
      }
    }
    [[nodiscard]] Array apply([[maybe_unused]] const Tree& params, const Array& x,
                              [[maybe_unused]] const Scope* scope) const override {
      if constexpr (RandomLayer<T>) {
        return scope != nullptr ? layer.apply(params, x, *scope) : layer.apply(params, x);
      } else if constexpr (Layer<T>) {
        return layer.apply(params, x);
      } else {
        return std::invoke(layer, x);
      }
    }
    T layer;
  };

  std::shared_ptr<const Interface> impl_;
};

}  // namespace lockstep::nn
