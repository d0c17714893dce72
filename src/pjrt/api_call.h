#pragma once
// Every call of the PJRT C API goes through here: arguments start zeroed with their size filled in,
// an entry that the plugin lacks is never jumped to, and an error becomes an exception and is
// destroyed.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "xla/pjrt/c/pjrt_c_api.h"

namespace lockstep::pjrt {

// What a PJRT_Error said.
struct ApiError {
  PJRT_Error_Code code = PJRT_Error_Code_UNKNOWN;
  std::string message;
};

// The function at `member`, or null where the plugin's table ends before it or leaves it empty.
template <class Function>
[[nodiscard]] Function* api_entry(const PJRT_Api* api, std::size_t offset,
                                  Function* PJRT_Api::*member) {
  return offset + sizeof(Function*) <= api->struct_size ? api->*member : nullptr;
}

// Reads and destroys an error that there is.
[[nodiscard]] ApiError read_error(const PJRT_Api* api, PJRT_Error* error);
// The same; nothing for null.
[[nodiscard]] std::optional<ApiError> take_error(const PJRT_Api* api, PJRT_Error* error);

// What is said of an entry that the plugin lacks.
[[nodiscard]] ApiError missing_entry(const PJRT_Api* api);

[[noreturn]] void throw_api_error(std::string_view entry, const ApiError& error);

// One call of one entry. Made by LOCKSTEP_PJRT_CALL.
template <class Args>
class Call {
 public:
  using Function = PJRT_Error*(Args*);

  Call(const PJRT_Api* api, const char* name, Function* function, std::size_t struct_size)
      : api_(api), name_(name), function_(function), args_{} {
    args_.struct_size = struct_size;
  }

  [[nodiscard]] bool available() const { return function_ != nullptr; }
  [[nodiscard]] Args* operator->() { return &args_; }

  // Calls; RuntimeError "[PJRT_...] text" where it fails or the plugin lacks the entry.
  void run() {
    if (function_ == nullptr) [[unlikely]]
      throw_api_error(name_, missing_entry(api_));
    PJRT_Error* error = function_(&args_);
    if (error != nullptr) [[unlikely]]
      throw_api_error(name_, read_error(api_, error));
  }

  // Calls; gives the error back instead of throwing it. A missing entry is UNIMPLEMENTED.
  [[nodiscard]] std::optional<ApiError> try_run() {
    if (function_ == nullptr) return missing_entry(api_);
    return take_error(api_, function_(&args_));
  }

 private:
  const PJRT_Api* api_;
  const char* name_;
  Function* function_;
  Args args_;
};

}  // namespace lockstep::pjrt

// A macro because an entry's name, field, argument type and argument size share one word.
#define LOCKSTEP_PJRT_CALL(api, name)                                                              \
  ::lockstep::pjrt::Call<name##_Args>(                                                             \
      (api), #name, ::lockstep::pjrt::api_entry((api), offsetof(PJRT_Api, name), &PJRT_Api::name), \
      name##_Args_STRUCT_SIZE)
