"""Writes expected_orders.h: the order of the rows in an epoch, as JAX's random bits give it.

    pip install jax==0.10.2
    python make_expected_orders.py > expected_orders.h
"""

import jax

jax.config.update("jax_enable_x64", True)  # for seeds beyond 32 bits

import numpy as np

CASES = [(0, 0, 10), (0, 1, 10), (42, 0, 16), (42, 7, 16), (2**40 + 7, 3, 16), (1, 2**32 - 1, 8), (5, 2, 60000)]
FIRST = 16

print("#pragma once")
print(f"// Written by make_expected_orders.py (JAX {jax.__version__}).")
print("#include <cstdint>\n#include <vector>\n")
print("namespace lockstep::data {\n")
print("struct ExpectedOrder {")
print("  std::uint64_t seed;\n  std::int64_t epoch;\n  std::int64_t rows;")
print(f"  std::vector<std::int64_t> first;  // of the order, at most {FIRST}\n}};\n")
print("inline const std::vector<ExpectedOrder> expected_orders = {")
for seed, epoch, rows in CASES:
    key = jax.random.fold_in(jax.random.key(seed), np.uint32(epoch))
    bits = np.asarray(jax.random.bits(key, (rows,), np.uint32))
    order = np.argsort(bits, kind="stable")
    print(f"    {{{seed}, {epoch}, {rows}, {{{', '.join(map(str, order[:FIRST]))}}}}},")
print("};\n")
print("}  // namespace lockstep::data")
