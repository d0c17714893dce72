#include "pjrt/key_value_callbacks.h"

#include <cstdlib>
#include <cstring>
#include <exception>

namespace lockstep::pjrt {
namespace {

const KeyValueStore& store_of(const void* user_arg) {
  return *static_cast<const KeyValueStore*>(user_arg);
}

PJRT_Error* make_error(PJRT_CallbackError* callback_error, PJRT_Error_Code code,
                       std::string_view text) {
  return (*callback_error)(code, text.data(), text.size());
}

// Exceptions must not cross the C boundary.
template <class Args, class Body>
PJRT_Error* guarded(Args* args, Body body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return make_error(args->callback_error, PJRT_Error_Code_INTERNAL, error.what());
  } catch (...) {
    return make_error(args->callback_error, PJRT_Error_Code_INTERNAL, "unknown error");
  }
}

template <class Args>
void give_value(Args* args, const std::string& value) {
  args->value = static_cast<char*>(std::malloc(value.size() + 1));
  if (args->value == nullptr) throw std::bad_alloc();
  std::memcpy(args->value, value.c_str(), value.size() + 1);
  args->value_size = value.size();
  args->value_deleter_callback = [](char* held) { std::free(held); };
}

PJRT_Error* put(PJRT_KeyValuePutCallback_Args* args) {
  return guarded(args, [&]() -> PJRT_Error* {
    store_of(args->user_arg)
        .put(std::string(args->key, args->key_size), std::string(args->value, args->value_size));
    return nullptr;
  });
}

PJRT_Error* get(PJRT_KeyValueGetCallback_Args* args) {
  return guarded(args, [&]() -> PJRT_Error* {
    give_value(
        args,
        store_of(args->user_arg).get(std::string(args->key, args->key_size), args->timeout_in_ms));
    return nullptr;
  });
}

PJRT_Error* try_get(PJRT_KeyValueTryGetCallback_Args* args) {
  return guarded(args, [&]() -> PJRT_Error* {
    const std::string key(args->key, args->key_size);
    const std::optional<std::string> value = store_of(args->user_arg).try_get(key);
    if (!value) {
      return make_error(args->callback_error, PJRT_Error_Code_NOT_FOUND, "no key " + key);
    }
    give_value(args, *value);
    return nullptr;
  });
}

}  // namespace

void set_key_value_callbacks(PJRT_Client_Create_Args& args, const KeyValueStore& store) {
  void* user_arg = const_cast<KeyValueStore*>(&store);  // NOLINT: the C API knows no const
  args.kv_put_callback = put;
  args.kv_put_user_arg = user_arg;
  args.kv_get_callback = get;
  args.kv_get_user_arg = user_arg;
  args.kv_try_get_callback = try_get;
  args.kv_try_get_user_arg = user_arg;
}

}  // namespace lockstep::pjrt
