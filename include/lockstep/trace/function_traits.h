#pragma once
/// From C++ functions to functions of trees: how jit and grad take any function of arrays, trees,
/// tree structs and standard containers of them.
#include <concepts>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lockstep/array/array.h"
#include "lockstep/tree/tree_struct.h"

namespace lockstep {

/// A function of trees to a tree: what jit and grad see of any function.
using TreeFunction = std::function<Tree(std::span<const Tree>)>;

namespace function_traits {

// What an argument of type T is to a function that takes anything: numbers are arrays.
template <class T>
using ArgumentType =
    std::conditional_t<std::is_arithmetic_v<std::decay_t<T>>, Array, std::decay_t<T>>;

// The parameter types that a function declares; none where it takes anything (a generic lambda).
template <class Function>
struct Declared : std::false_type {};
template <class Result, class... P>
struct Declared<Result (*)(P...)> : std::true_type {
  using Parameters = std::tuple<std::decay_t<P>...>;
};
template <class Class, class Result, class... P>
struct Declared<Result (Class::*)(P...) const> : std::true_type {
  using Parameters = std::tuple<std::decay_t<P>...>;
};
template <class Class, class Result, class... P>
struct Declared<Result (Class::*)(P...)> : std::true_type {
  using Parameters = std::tuple<std::decay_t<P>...>;
};
template <class Class, class Result, class... P>
struct Declared<Result (Class::*)(P...) const noexcept> : std::true_type {
  using Parameters = std::tuple<std::decay_t<P>...>;
};
template <class Function>
  requires requires { &Function::operator(); }
struct Declared<Function> : Declared<decltype(&Function::operator())> {};

template <class Function, class... Arguments>
struct ParametersOf {
  using type = std::tuple<ArgumentType<Arguments>...>;
};
template <class Function, class... Arguments>
  requires(Declared<Function>::value)
struct ParametersOf<Function, Arguments...> {
  using type = typename Declared<Function>::Parameters;
};

/// The types a function's arguments are converted to before the call.
template <class Function, class... Arguments>
using Parameters = typename ParametersOf<Function, Arguments...>::type;

template <class Function, class ParameterTuple>
struct ResultOf;
template <class Function, class... P>
struct ResultOf<Function, std::tuple<P...>> {
  using type = std::decay_t<std::invoke_result_t<const Function&, const P&...>>;
};
/// What the function gives for these parameters.
template <class Function, class ParameterTuple>
using Result = typename ResultOf<Function, ParameterTuple>::type;

template <class ParameterTuple, class... Arguments>
[[nodiscard]] std::vector<Tree> to_trees(const Arguments&... arguments) {
  static_assert(std::tuple_size_v<ParameterTuple> == sizeof...(Arguments),
                "the function takes another number of arguments");
  return [&]<class... P>(std::type_identity<std::tuple<P...>>) {
    return std::vector<Tree>{TreeConversion<P>::to_tree(static_cast<const P&>(arguments))...};
  }(std::type_identity<ParameterTuple>());
}

/// The function as one of trees.
template <class ParameterTuple, class Function>
[[nodiscard]] TreeFunction tree_function(Function function) {
  return [function = std::move(function)](std::span<const Tree> trees) -> Tree {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return TreeConversion<Result<Function, ParameterTuple>>::to_tree(std::invoke(
          function,
          TreeConversion<std::tuple_element_t<I, ParameterTuple>>::from_tree(trees[I])...));
    }(std::make_index_sequence<std::tuple_size_v<ParameterTuple>>());
  };
}

}  // namespace function_traits
}  // namespace lockstep
