"""Writes expected_random.h: draws of jax.random, bit for bit.

    pip install jax==0.10.2
    python make_expected_random.py > expected_random.h

The cases are those of random_test.cc, by name.
"""

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

WIDE_SEED = 0x123456789ABCDEF0
key = lambda seed: jax.random.key(seed, impl="threefry2x32")
# A draw as one compiled program of its key, as a training step holds it.
drawn = lambda seed, draw: jax.jit(draw)(key(seed))
data = jax.random.key_data
CASES = {}

for seed in [0, 1, 42, 2**32 - 1, 2**32, WIDE_SEED]:
    CASES[f"key_{seed}"] = lambda seed=seed: data(key(seed))
for seed in [0, 42]:
    for num in [0, 1, 2, 3, 7]:
        CASES[f"split_{seed}_{num}"] = lambda seed=seed, num=num: data(jax.random.split(key(seed), num))
    for number in [0, 1, 7, 2**31, 2**32 - 1]:
        CASES[f"fold_in_{seed}_{number}"] = lambda seed=seed, number=number: data(
            jax.random.fold_in(key(seed), np.uint32(number)))
CASES["fold_in_negative"] = lambda: data(jax.random.fold_in(key(5), np.int32(-3)))

for dtype in ["uint8", "uint16", "uint32", "uint64"]:
    for shape in [(), (1,), (5,), (2, 3), (0, 2)]:
        name = "x".join(map(str, shape)) or "scalar"
        CASES[f"bits_{dtype}_{name}"] = lambda dtype=dtype, shape=shape: drawn(7, lambda k: jax.random.bits(k, shape, dtype))

for dtype in ["float16", "bfloat16", "float32", "float64"]:
    as_type = lambda x, dtype=dtype: jnp.asarray(x, dtype)
    CASES[f"uniform_{dtype}"] = lambda dtype=dtype: drawn(3, lambda k: jax.random.uniform(k, (9,), dtype))
    CASES[f"uniform_range_{dtype}"] = lambda dtype=dtype: drawn(4, lambda k: jax.random.uniform(k, (3, 2), dtype, -2.5, 7.0))
    CASES[f"uniform_scalar_{dtype}"] = lambda dtype=dtype: drawn(WIDE_SEED, lambda k: jax.random.uniform(k, (), dtype))
    CASES[f"normal_{dtype}"] = lambda dtype=dtype: drawn(3, lambda k: jax.random.normal(k, (33,), dtype))
    CASES[f"normal_scalar_{dtype}"] = lambda dtype=dtype: drawn(11, lambda k: jax.random.normal(k, (), dtype))
    CASES[f"truncated_normal_{dtype}"] = lambda dtype=dtype: drawn(5, lambda k: jax.random.truncated_normal(k, as_type(-2.0), as_type(1.5), (9,), dtype))

for dtype in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
    CASES[f"randint_{dtype}"] = lambda dtype=dtype: drawn(6, lambda k: jax.random.randint(k, (9,), 3, 100, dtype))
    CASES[f"randint_small_{dtype}"] = lambda dtype=dtype: drawn(6, lambda k: jax.random.randint(k, (2, 2), 0, 2, dtype))
    CASES[f"randint_empty_{dtype}"] = lambda dtype=dtype: drawn(6, lambda k: jax.random.randint(k, (3,), 5, 5, dtype))
for dtype in ["int8", "int16", "int32", "uint8", "uint16", "uint32"]:
    info = np.iinfo(dtype)
    CASES[f"randint_whole_{dtype}"] = lambda dtype=dtype, info=info: drawn(8, lambda k: jax.random.randint(k, (7,), int(info.min), int(info.max) + 1, dtype))
CASES["randint_negative"] = lambda: drawn(9, lambda k: jax.random.randint(k, (6,), -50, -3, "int32"))
CASES["bernoulli"] = lambda: drawn(10, lambda k: jax.random.bernoulli(k, jnp.float32(0.3), (20,)))
CASES["bernoulli_array"] = lambda: drawn(10, lambda k: jax.random.bernoulli(k, jnp.asarray([0.0, 0.2, 0.8, 1.0], jnp.float32), (5, 4)))


def words(array):
    array = np.ascontiguousarray(np.asarray(array))
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[array.dtype.itemsize]
    return [int(w) for w in array.reshape(-1).view(unsigned)]


print("#pragma once")
print("// Written by make_expected_random.py (JAX %s)." % jax.__version__)
print("#include <cstdint>\n#include <map>\n#include <string>\n#include <vector>\n")
print("namespace lockstep::random {\n")
print("struct ExpectedDraw {")
print("  std::string dtype;")
print("  std::vector<std::int64_t> shape;")
print("  std::vector<std::uint64_t> bits;  // of each element, row-major")
print("};\n")
print("inline const std::map<std::string, ExpectedDraw> expected_draws = {")
for name, make in CASES.items():
    array = np.asarray(make())
    shape = ", ".join(map(str, array.shape))
    bits = ", ".join(f"0x{w:x}u" for w in words(array))
    print(f'    {{"{name}", {{"{array.dtype}", {{{shape}}}, {{{bits}}}}}}},')
print("};\n")
print("}  // namespace lockstep::random")
