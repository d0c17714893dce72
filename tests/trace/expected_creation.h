#pragma once
// Written by make_expected_ops.py (JAX 0.10.2).
#include <cmath>
#include <map>
#include <string>

#include "trace/op_cases.h"

namespace lockstep {

inline const std::map<std::string, ExpectedResult> expected_creation = {
    {"zeros", {"float32", {2, 3}, {0, 0, 0, 0, 0, 0}, {}}},
    {"ones_int8", {"int8", {2}, {1, 1}, {}}},
    {"full", {"float32", {2, 2}, {1.5, 1.5, 1.5, 1.5}, {}}},
    {"full_dtype", {"uint8", {2}, {7, 7}, {}}},
    {"full_array", {"float32", {2, 3}, {-0.342764258, -0.211352304, 0.317363024, -0.342764258, -0.211352304, 0.317363024}, {{2.4055562, 1.73845363, 1.98356819}}}},
    {"zeros_like", {"int32", {2}, {0, 0}, {}}},
    {"ones_like", {"bfloat16", {2}, {1, 1}, {{0, 0}}}},
    {"full_like", {"float32", {2}, {2.5, 2.5}, {{0, 0}}}},
    {"arange", {"int32", {5}, {0, 1, 2, 3, 4}, {}}},
    {"arange_step", {"int32", {3}, {2, 5, 8}, {}}},
    {"arange_back", {"int32", {5}, {5, 3, 1, -1, -3}, {}}},
    {"arange_empty", {"int32", {0}, {}, {}}},
    {"arange_float", {"float32", {4}, {0, 1, 2, 3}, {}}},
    {"iota", {"uint8", {4}, {0, 1, 2, 3}, {}}},
    {"broadcasted_iota", {"int32", {2, 3}, {0, 1, 2, 0, 1, 2}, {}}},
    {"linspace", {"float32", {7}, {-1, -0.49999997, 5.96046448e-08, 0.5, 1, 1.50000012, 2}, {}}},
    {"linspace_open", {"float32", {4}, {0, 0.25, 0.5, 0.75}, {}}},
    {"linspace_one", {"float32", {1}, {3}, {}}},
    {"linspace_int32", {"int32", {4}, {0, 3, 6, 10}, {}}},
    {"eye", {"float32", {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {}}},
    {"eye_offset", {"int32", {3, 4}, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {}}},
    {"eye_below", {"float32", {3, 2}, {0, 0, 1, 0, 0, 1}, {}}},
    {"tri", {"float32", {3, 4}, {1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1}, {}}},
    {"tri_below", {"float32", {3, 3}, {0, 0, 0, 1, 0, 0, 1, 1, 0}, {}}},
};

}  // namespace lockstep
