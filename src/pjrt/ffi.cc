#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"
#include "xla/pjrt/c/pjrt_c_api_ffi_extension.h"

namespace lockstep::pjrt {

void Client::register_ffi_handler(const std::string& target, void* handler,
                                  const std::string& platform) {
  const auto* extension =
      static_cast<const PJRT_FFI_Extension*>(plugin_->extension(PJRT_Extension_Type_FFI));
  if (extension == nullptr ||
      extension->base.struct_size < static_cast<std::size_t>(PJRT_FFI_Extension_STRUCT_SIZE) ||
      extension->register_handler == nullptr) {
    throw_runtime_error(
        "Client::register_ffi_handler",
        fmt::format("the plugin '{}' (PJRT API {}.{}) cannot register the handler "
                    "'{}': it has no FFI extension",
                    plugin_->path(), plugin_->major_version(), plugin_->minor_version(), target));
  }
  PJRT_FFI_Register_Handler_Args args{};
  args.struct_size = PJRT_FFI_Register_Handler_Args_STRUCT_SIZE;
  args.target_name = target.data();
  args.target_name_size = target.size();
  args.handler = handler;
  args.platform_name = platform.data();
  args.platform_name_size = platform.size();
  if (const auto error = take_error(api(), extension->register_handler(&args))) {
    throw_runtime_error(
        "Client::register_ffi_handler",
        fmt::format("handler '{}' for platform '{}': {}", target, platform, error->message));
  }
}

}  // namespace lockstep::pjrt
