"""Writes expected_promotion.h: JAX's promotion of every pair of types.

    pip install jax==0.10.2
    python make_expected_promotion.py > expected_promotion.h

A weak type (of a Python number) ends in "*"; pairs without a common type give "".
"""

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import ml_dtypes
import numpy as np

TYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "int4", "uint4",
         "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64", "complex64", "complex128"]
WIDE = {"uint64", "int64", "float64", "complex128"}
WEAK = [1, 1.0, 1j]


def text(dtype, weak):
    return f"{jnp.dtype(dtype).name}{'*' if weak else ''}"


def operand(item):
    return jnp.zeros((), item) if isinstance(item, str) else item


def name(item):
    return item if isinstance(item, str) else text(*jax.dtypes.result_type(item, return_weak_type_flag=True))


def promoted(a, b):
    try:
        return text(*jax.dtypes.result_type(operand(a), operand(b), return_weak_type_flag=True))
    except Exception as error:
        assert "TypePromotionError" in type(error).__name__, error
        return ""


def inexact(item):
    try:
        result = jax.eval_shape(jnp.sqrt, operand(item))
    except TypeError:
        return ""
    return text(result.dtype, result.weak_type)


def rows(items):
    return ", ".join(f'"{item}"' for item in items)


def table(title, types):
    items = types + WEAK
    scalars = [i for i in items if not isinstance(i, str) or not (i.startswith("float8") or i.endswith("int4"))]
    print(f"inline const ExpectedPromotions expected_{title} = {{")
    print(f"    {{{rows(map(name, items))}}},")
    print("    {")
    for a in items:
        print(f"        {{{rows(promoted(a, b) for b in items)}}},")
    print("    },")
    print(f"    {{{rows(map(name, scalars))}}},")
    print(f"    {{{rows(map(inexact, scalars))}}},")
    print("};\n")


print("#pragma once")
print("// Written by make_expected_promotion.py (JAX %s)." % jax.__version__)
print("#include <string>\n#include <vector>\n")
print("namespace lockstep {\n")
print("""struct ExpectedPromotions {
  std::vector<std::string> types;
  std::vector<std::vector<std::string>> results;  // of types[row] with types[column]
  std::vector<std::string> operands;
  std::vector<std::string> inexact;  // what sqrt gives for each operand
};
""")
print("// With 64-bit defaults (jax_enable_x64).")
table("bits64", TYPES)
with jax.enable_x64(False):
    print("// With 32-bit defaults, where JAX has no 64-bit types.")
    table("bits32", [t for t in TYPES if t not in WIDE])
print("}  // namespace lockstep")
