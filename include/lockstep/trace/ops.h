#pragma once
/// All ops on arrays.
#include "lockstep/trace/convolution.h"
#include "lockstep/trace/creation.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/indexing.h"
#include "lockstep/trace/linear_algebra.h"
#include "lockstep/trace/operators.h"
#include "lockstep/trace/promotion.h"
#include "lockstep/trace/reductions.h"
#include "lockstep/trace/shape_ops.h"
