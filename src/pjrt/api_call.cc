#include "pjrt/api_call.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::pjrt {

ApiError read_error(const PJRT_Api* api, PJRT_Error* error) {
  ApiError result{.message = "the plugin gives no text"};
  if (auto* message =
          api_entry(api, offsetof(PJRT_Api, PJRT_Error_Message), &PJRT_Api::PJRT_Error_Message)) {
    PJRT_Error_Message_Args args{};
    args.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE;
    args.error = error;
    message(&args);
    if (args.message != nullptr) result.message.assign(args.message, args.message_size);
  }
  if (auto* get_code =
          api_entry(api, offsetof(PJRT_Api, PJRT_Error_GetCode), &PJRT_Api::PJRT_Error_GetCode)) {
    PJRT_Error_GetCode_Args args{};
    args.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE;
    args.error = error;
    // An error about the error's code is of no use to anybody and would recurse.
    if (get_code(&args) == nullptr) result.code = args.code;
  }
  if (auto* destroy =
          api_entry(api, offsetof(PJRT_Api, PJRT_Error_Destroy), &PJRT_Api::PJRT_Error_Destroy)) {
    PJRT_Error_Destroy_Args args{};
    args.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE;
    args.error = error;
    destroy(&args);
  }
  return result;
}

std::optional<ApiError> take_error(const PJRT_Api* api, PJRT_Error* error) {
  if (error == nullptr) return std::nullopt;
  return read_error(api, error);
}

ApiError missing_entry(const PJRT_Api* api) {
  return {.code = PJRT_Error_Code_UNIMPLEMENTED,
          .message = fmt::format(
              "the plugin (PJRT API {}.{}) does not have this entry; use a plugin "
              "that implements it",
              api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version)};
}

void throw_api_error(std::string_view entry, const ApiError& error) {
  throw_runtime_error(entry, error.message);
}

}  // namespace lockstep::pjrt
