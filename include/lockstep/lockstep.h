#pragma once
/// The whole of Lockstep. Programs that care for compile time include the headers they need.
#include "lockstep/array/array.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/pjrt/runtime.h"
#include "lockstep/strategy/create_strategy.h"
#include "lockstep/strategy/data_parallel.h"
#include "lockstep/strategy/single_device.h"
#include "lockstep/strategy/strategy.h"
#include "lockstep/tree/algorithms.h"
