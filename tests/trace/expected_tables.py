"""What make_expected_ops.py makes its tables with: inputs, cases, and the headers that hold them."""

import math
import pathlib

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

F32, BF16, I32 = np.float32, ml_dtypes.bfloat16, np.int32
TABLES = {}


def numbers(count, low, high, seed):
    state = (seed * 2654435761 + 12345) % 2**64
    values = []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(low + (high - low) * math.ldexp(state >> 11, -53))
    return values


def rnd(shape, low=-1.0, high=1.0, seed=1, dtype=F32):
    return np.array(numbers(math.prod(shape), low, high, seed), np.float64).reshape(shape).astype(dtype)


def ints(*values, dtype=I32):
    return np.array(values, dtype)


def case(table, name, op, *inputs):
    inputs = [jnp.asarray(i) for i in inputs]
    floating = [i for i, x in enumerate(inputs) if jnp.issubdtype(x.dtype, jnp.floating)]

    def of_floating(*xs):
        full = list(inputs)
        for i, x in zip(floating, xs):
            full[i] = x
        return op(*full)

    out = jax.eval_shape(of_floating, *[inputs[i] for i in floating])
    weights = None
    if jnp.issubdtype(out.dtype, jnp.floating):
        weights = jnp.asarray(rnd(out.shape, 0.5, 1.5, 99, out.dtype))

    @jax.jit
    def value_and_gradients(xs, weights):
        if weights is None:
            return of_floating(*xs), []
        out, pull = jax.vjp(of_floating, *xs)
        return out, pull(weights)

    out, gradients = value_and_gradients([inputs[i] for i in floating], weights)
    rows = TABLES.setdefault(table, {})
    assert name not in rows, name
    rows[name] = (out, gradients)


def number(x):
    x = float(x)
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return f"{x:.9g}"


def braced(items):
    return "{" + ", ".join(items) + "}"


def elements(array):
    return braced(map(number, np.asarray(array).astype(np.float64).reshape(-1)))


def write_tables(folder):
    for table, rows in TABLES.items():
        with open(pathlib.Path(folder) / f"expected_{table}.h", "w") as header:
            header.write(f"""#pragma once
// Written by make_expected_ops.py (JAX {jax.__version__}).
#include <cmath>
#include <map>
#include <string>

#include "trace/op_cases.h"

namespace lockstep {{

inline const std::map<std::string, ExpectedResult> expected_{table} = {{
""")
            for name, (out, gradients) in rows.items():
                fields = [f'"{out.dtype}"', braced(map(str, out.shape)), elements(out), braced(map(elements, gradients))]
                header.write(f'    {{"{name}", {braced(fields)}}},\n')
            header.write("};\n\n}  // namespace lockstep\n")
