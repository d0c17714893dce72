#pragma once
// The C API's three callbacks over a KeyValueStore.
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"

namespace lockstep::pjrt {

// Makes `args` use `store`, which must outlive the client.
void set_key_value_callbacks(PJRT_Client_Create_Args& args, const KeyValueStore& store);

}  // namespace lockstep::pjrt
