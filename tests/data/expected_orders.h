#pragma once
// Written by make_expected_orders.py (JAX 0.10.2).
#include <cstdint>
#include <vector>

namespace lockstep::data {

struct ExpectedOrder {
  std::uint64_t seed;
  std::int64_t epoch;
  std::int64_t rows;
  std::vector<std::int64_t> first;  // of the order, at most 16
};

inline const std::vector<ExpectedOrder> expected_orders = {
    {0, 0, 10, {9, 3, 7, 1, 4, 2, 5, 6, 0, 8}},
    {0, 1, 10, {0, 1, 8, 5, 6, 4, 3, 2, 7, 9}},
    {42, 0, 16, {8, 7, 15, 1, 14, 11, 0, 13, 10, 4, 5, 3, 6, 9, 2, 12}},
    {42, 7, 16, {11, 6, 8, 15, 14, 9, 1, 10, 5, 4, 2, 13, 0, 3, 7, 12}},
    {1099511627783, 3, 16, {13, 15, 8, 9, 6, 1, 5, 10, 7, 14, 12, 0, 4, 11, 2, 3}},
    {1, 4294967295, 8, {5, 7, 6, 0, 4, 2, 1, 3}},
    {5, 2, 60000, {11317, 14460, 29402, 42875, 48605, 56584, 50382, 48500, 5138, 28644, 46885, 9787, 55156, 44438, 6051, 31021}},
};

}  // namespace lockstep::data
