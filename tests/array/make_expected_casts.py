"""Writes expected_casts.h: how ml_dtypes converts to and from the floats of at most 16 bits.

    pip install ml_dtypes==0.7.0 numpy==2.4.6
    python make_expected_casts.py > expected_casts.h

Each type has the bits of some edge values, and two hashes that cover everything: of the bits of many
float32 values (see inputs(), which cast_test.cc repeats), and of the values of all bit patterns.
"""

import ml_dtypes
import numpy as np

TYPES = ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
         "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
         "float8_e8m0fnu", "float16", "bfloat16"]
BITS = {"float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6, "float16": 16, "bfloat16": 16}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.0625, 1.25, 1.5, 1.75, 2.5, 3.5, 5.0, 6.0, 7.0, 7.5, 28.0,
         30.0, 240.0, 248.0, 256.0, 448.0, 464.0, 480.0, 57344.0, 61440.0, 65504.0, 65520.0, 1e38,
         2.0**-6, 2.0**-7, 2.0**-10, 2.0**-17, 2.0**-24, 2.0**-25, 2.0**-127, 1e-38, 3e-45,
         float("inf"), float("-inf"), float("nan")]
TAILS = [0x0000, 0x1000, 0x1001, 0x8000, 0x8001]
OFFSET, PRIME = 0xCBF29CE484222325, 0x100000001B3


def dtype_of(name):
    return np.dtype(np.float16) if name == "float16" else np.dtype(getattr(ml_dtypes, name))


def bits_of(array):
    return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)


def inputs():
    """All float32 values whose upper half is any pattern and whose lower half is one of TAILS."""
    upper = np.arange(2**16, dtype=np.uint32) << 16
    values = np.concatenate([upper | tail for tail in TAILS]).view(np.float32)
    return values[~np.isnan(values)]


def fnv(values):
    state = OFFSET
    for value in values.tolist():
        state = (state ^ value) * PRIME % 2**64
    return state


def decoded(name):
    count = 2 ** BITS.get(name, 8)
    codes = np.arange(count, dtype=np.uint16 if count > 256 else np.uint8)
    values = codes.view(dtype_of(name)).astype(np.float64)
    values[np.isnan(values)] = np.float64("nan")
    return values.view(np.uint64)


def literal(value):
    if np.isnan(value):
        return "kNaN"
    if np.isinf(value):
        return "kInfinity" if value > 0 else "-kInfinity"
    return float(np.float32(value)).hex()


print(f"""#pragma once
// Written by make_expected_casts.py (ml_dtypes {ml_dtypes.__version__}, NumPy {np.__version__}).
#include <cstdint>
#include <limits>
#include <vector>

#include "lockstep/array/dtype.h"

namespace lockstep {{

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline const std::vector<float> cast_edges = {{{", ".join(map(literal, EDGES))}}};
inline const std::vector<std::uint32_t> cast_tails = {{{", ".join(map(hex, TAILS))}}};

struct ExpectedCasts {{
  const char* name;
  std::vector<std::uint32_t> edge_bits;
  std::uint64_t encoded_hash;
  std::uint64_t decoded_hash;
}};

inline const std::vector<ExpectedCasts> expected_casts = {{""")
for name in TYPES:
    with np.errstate(all="ignore"):
        edges = bits_of(np.array(EDGES, np.float32).astype(dtype_of(name)))
        encoded = bits_of(inputs().astype(dtype_of(name)))
    print(f'    {{"{name}",\n     {{{", ".join(hex(b) for b in edges.tolist())}}},\n'
          f"     {hex(fnv(encoded))}, {hex(fnv(decoded(name)))}}},")
print("""};

}  // namespace lockstep""")
