"""Writes numpy_files.h: NPY files of every type and order as NumPy writes them, as hex digits.

    pip install numpy ml_dtypes
    python make_numpy_files.py > numpy_files.h

The elements follow the formulas of npy_test.cc: element k is (k - 2) times a step.
"""

import io

import ml_dtypes
import numpy as np

STEP = {1: 21, 2: 5000, 4: 300_000_000, 8: 2**40 + 1}
TYPES = ["|b1", "|i1", "|u1"] + [
    order + kind for kind in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16") for order in "<>"
]


def elements(descr, count):
    k = np.arange(count)
    dtype = np.dtype(descr)
    if dtype.kind == "b":
        return (k % 3 == 0).astype(dtype)
    if dtype.kind == "u":
        return (k * STEP[dtype.itemsize]).astype(dtype)
    if dtype.kind == "i":
        return ((k - 2) * STEP[dtype.itemsize]).astype(dtype)
    if dtype.kind == "c":
        return ((k - 2) * 0.75 + 1j * k).astype(dtype)
    return ((k - 2) * 0.75).astype(dtype)


def entry(name, array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version, allow_pickle=True)
    print(f'    {{"{name}",\n     "{file.getvalue().hex()}"}},')


print("#pragma once")
print(f"// Written by make_numpy_files.py (NumPy {np.__version__}).")
print("#include <map>\n#include <string>\n")
print("namespace lockstep::data {\n")
print("// Whole files as hex digits, by name.")
print("inline const std::map<std::string, std::string> numpy_files = {")
for descr in TYPES:
    entry(descr, elements(descr, 6).reshape(2, 3))
f4 = elements("<f4", 24)
entry("fortran 2", np.asfortranarray(f4[:6].reshape(2, 3)))
entry("fortran 3", np.asfortranarray(f4.reshape(2, 3, 4)))
entry("fortran 1", np.asfortranarray(f4[:5]))
entry("fortran i8 big-endian", np.asfortranarray(elements(">i8", 6).reshape(2, 3)))
entry("scalar", f4[5].reshape(()))
entry("empty", f4[:0].reshape(0, 3))
entry("version 2", f4[:6].reshape(2, 3), (2, 0))
entry("version 3", f4[:6].reshape(2, 3), (3, 0))
entry("bfloat16", f4[:6].astype(ml_dtypes.bfloat16))
entry("float8_e4m3fn", f4[:6].astype(ml_dtypes.float8_e4m3fn))
entry("objects", np.array([{"a": 1}], dtype=object))
entry("structure", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4", (2,))]))
entry("unicode field", np.zeros(2, dtype=[("質量", "<f4")]))
entry("text", np.array(["ab", "abc"]))
entry("bytes", np.array([b"ab", b"abc"]))
entry("dates", np.array(["2020-01-01"], dtype="datetime64[D]"))
print("};\n")
print("}  // namespace lockstep::data")
