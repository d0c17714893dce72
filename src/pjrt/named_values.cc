#include "pjrt/named_values.h"

#include <type_traits>

namespace lockstep::pjrt {
namespace {

void set_value(PJRT_NamedValue& result, const NamedValue& value) {
  std::visit(
      [&result](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        result.value_size = 1;
        if constexpr (std::is_same_v<T, std::string>) {
          result.type = PJRT_NamedValue_kString;
          result.string_value = held.data();
          result.value_size = held.size();
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          result.type = PJRT_NamedValue_kInt64;
          result.int64_value = held;
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          result.type = PJRT_NamedValue_kInt64List;
          result.int64_array_value = held.data();
          result.value_size = held.size();
        } else if constexpr (std::is_same_v<T, float>) {
          result.type = PJRT_NamedValue_kFloat;
          result.float_value = held;
        } else {
          result.type = PJRT_NamedValue_kBool;
          result.bool_value = held;
        }
      },
      value);
}

}  // namespace

std::vector<PJRT_NamedValue> to_api(const NamedValues& values) {
  std::vector<PJRT_NamedValue> result;
  result.reserve(values.size());
  for (const auto& [name, value] : values) {
    PJRT_NamedValue& added = result.emplace_back();
    added.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    added.name = name.data();
    added.name_size = name.size();
    set_value(added, value);
  }
  return result;
}

NamedValues from_api(const PJRT_NamedValue* values, std::size_t count) {
  NamedValues result;
  for (std::size_t i = 0; i < count; ++i) {
    const PJRT_NamedValue& value = values[i];
    std::string name(value.name, value.name_size);
    switch (value.type) {
      case PJRT_NamedValue_kString:
        result.emplace(std::move(name), std::string(value.string_value, value.value_size));
        break;
      case PJRT_NamedValue_kInt64: result.emplace(std::move(name), value.int64_value); break;
      case PJRT_NamedValue_kInt64List:
        result.emplace(std::move(name),
                       std::vector<std::int64_t>(value.int64_array_value,
                                                 value.int64_array_value + value.value_size));
        break;
      case PJRT_NamedValue_kFloat: result.emplace(std::move(name), value.float_value); break;
      case PJRT_NamedValue_kBool: result.emplace(std::move(name), value.bool_value); break;
    }
  }
  return result;
}

}  // namespace lockstep::pjrt
