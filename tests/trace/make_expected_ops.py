"""Writes expected_unary.h, expected_binary.h, ...: values and gradients of the ops as JAX computes them.

    pip install jax==0.10.2
    python make_expected_ops.py FOLDER

The cases are those of the *_test.cc files, by name; the inputs are made by the same formula there. A
gradient is that of sum(w * op(inputs)) by each floating input, w drawn from [0.5, 1.5).
"""

import itertools
import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from expected_tables import BF16, F32, I32, case, ints, rnd, write_tables

# ---- elementwise: names, inputs where they are smooth, special inputs ------------------------------
UNARY = {
    "negative": (jnp.negative, -1, 1), "abs": (jnp.abs, -1, 1), "sign": (jnp.sign, -1, 1), "exp": (jnp.exp, -1, 1),
    "expm1": (jnp.expm1, -1, 1), "log": (jnp.log, 0.1, 3), "log1p": (jnp.log1p, -0.5, 2), "sqrt": (jnp.sqrt, 0.1, 3),
    "rsqrt": (lax.rsqrt, 0.1, 3), "cbrt": (jnp.cbrt, -3, 3), "square": (jnp.square, -1, 1),
    "reciprocal": (jnp.reciprocal, 0.5, 2), "tanh": (jnp.tanh, -2, 2), "logistic": (jax.nn.sigmoid, -2, 2),
    "sin": (jnp.sin, -3, 3), "cos": (jnp.cos, -3, 3), "tan": (jnp.tan, -1, 1), "asin": (jnp.arcsin, -0.9, 0.9),
    "acos": (jnp.arccos, -0.9, 0.9), "atan": (jnp.arctan, -2, 2), "sinh": (jnp.sinh, -2, 2), "cosh": (jnp.cosh, -2, 2),
    "asinh": (jnp.arcsinh, -2, 2), "acosh": (jnp.arccosh, 1.1, 3), "atanh": (jnp.arctanh, -0.9, 0.9),
    "erf": (jax.scipy.special.erf, -2, 2), "erf_inv": (jax.scipy.special.erfinv, -0.9, 0.9),
    "floor": (jnp.floor, -3, 3), "ceil": (jnp.ceil, -3, 3), "round": (jnp.round, -3, 3), "trunc": (jnp.trunc, -3, 3),
    "isfinite": (jnp.isfinite, -1, 1), "isnan": (jnp.isnan, -1, 1), "isinf": (jnp.isinf, -1, 1),
    "logical_not": (jnp.logical_not, -1, 1),
}
SPECIAL = np.array([-np.inf, -2.5, -1, -0.5, -0.0, 0.0, 0.5, 1, 1.5, 2.5, np.inf, np.nan], F32)
NO_INTEGERS = {"rsqrt", "cbrt", "logistic"}
for name, (op, low, high) in UNARY.items():
    case("unary", name, op, rnd((2, 3), low, high))
    case("unary", name + "_special", op, SPECIAL[6:] if name == "acosh" else SPECIAL)
    case("unary", name + "_bfloat16", op, rnd((4,), low, high, dtype=BF16))
    if name not in NO_INTEGERS:
        case("unary", name + "_int32", op, ints(-2, -1, 0, 1, 3))
for exponent in range(-3, 6):
    case("unary", f"integer_pow_{exponent}", lambda x: lax.integer_pow(x, exponent), rnd((3,), 0.5, 2))
for exponent in range(0, 5):
    case("unary", f"integer_pow_{exponent}_special", lambda x: lax.integer_pow(x, exponent), SPECIAL)
case("unary", "bitwise_not", jnp.bitwise_not, ints(-2, 0, 7))
case("unary", "population_count", lax.population_count, ints(-1, 0, 7, 256))

BINARY = {
    "add": jnp.add, "subtract": jnp.subtract, "multiply": jnp.multiply, "divide": jnp.divide,
    "floor_divide": jnp.floor_divide, "power": jnp.power, "maximum": jnp.maximum, "minimum": jnp.minimum,
    "remainder": jnp.remainder, "arctan2": jnp.arctan2, "logaddexp": jnp.logaddexp,
    "logical_and": jnp.logical_and, "logical_or": jnp.logical_or, "logical_xor": jnp.logical_xor,
    "equal": jnp.equal, "not_equal": jnp.not_equal, "less": jnp.less, "less_equal": jnp.less_equal,
    "greater": jnp.greater, "greater_equal": jnp.greater_equal,
}
BITS = {"bitwise_and": jnp.bitwise_and, "bitwise_or": jnp.bitwise_or, "bitwise_xor": jnp.bitwise_xor,
        "left_shift": jnp.left_shift, "right_shift": jnp.right_shift, "right_shift_logical": lax.shift_right_logical}
PAIRS = list(itertools.product([-np.inf, -1.5, 0.0, 1.0, 2.0, np.inf, np.nan], repeat=2))
FIRST, SECOND = (np.array([pair[i] for pair in PAIRS], F32) for i in (0, 1))
for name, op in BINARY.items():
    case("binary", name, op, rnd((2, 3), 0.5, 2), rnd((3,), 0.5, 2, 2))
    case("binary", name + "_columns", op, rnd((2, 1), 0.5, 2), rnd((1, 2), 0.5, 2, 2))
    if name != "logaddexp":  # its gradient at infinity is not the share of the larger
        case("binary", name + "_special", op, FIRST, SECOND)
    second = ints(2, 3, 0, 1, 5, 4) if name == "power" else ints(2, -2, 2, -2, 5, 3)
    case("binary", name + "_int32", op, ints(-7, -7, 7, 7, 0, 3), second)
case("binary", "rem", lax.rem, rnd((3,), -5, 5), rnd((3,), 1, 2, 2))
case("binary", "rem_int32", lax.rem, ints(-7, -7, 7, 7, 0, 3), ints(2, -2, 2, -2, 5, 3))
for name, op in BITS.items():
    case("binary", name + "_int32", op, ints(-7, 5, 1, -1, 12), ints(2, 3, 31, 33, 0))
    case("binary", name + "_uint8", op, ints(200, 5, 255, dtype=np.uint8), ints(1, 7, 8, dtype=np.uint8))

# ---- choosing and casting ----------------------------------------------------------------------------
SELECT = "select"
mask = np.array([True, False, True])
case(SELECT, "where", jnp.where, mask, rnd((2, 3)), rnd((3,), seed=2))
case(SELECT, "where_number_condition", jnp.where, ints(0, -1, 2), rnd((3,)), rnd((), seed=2))
case(SELECT, "where_mixed_types", jnp.where, mask, ints(1, 2, 3), rnd((3,)))
case(SELECT, "select", lax.select, mask, rnd((3,)), rnd((3,), seed=2))
case(SELECT, "select_scalar", lambda x, y: lax.select(jnp.asarray(False), x, y), rnd((3,)), rnd((3,), seed=2))
case(SELECT, "clip", lambda x: jnp.clip(x, -0.5, 0.5), np.array([-2, -0.5, 0, 0.5, 2, np.nan], F32))
case(SELECT, "clip_min", lambda x: jnp.clip(x, min=0), np.array([-2, 0, 3], F32))
case(SELECT, "clip_max", lambda x: jnp.clip(x, max=1.5), np.array([-2, 0, 3], F32))
case(SELECT, "clip_crossed", lambda x: jnp.clip(x, 1.0, -1.0), np.array([-2, 0, 3], F32))
case(SELECT, "clip_array_bounds", jnp.clip, rnd((2, 3), -2, 2), rnd((3,), -1, 0, 2), rnd((2, 1), 0, 1, 3))
case(SELECT, "astype_int32", lambda x: x.astype(I32), np.array([-2.7, -0.5, 0.5, 2.7], F32))
case(SELECT, "astype_bool", lambda x: x.astype(bool), np.array([-2.7, 0.0, -0.0, np.nan], F32))
case(SELECT, "astype_bfloat16", lambda x: x.astype(BF16), rnd((4,)))
case(SELECT, "astype_float32_of_bfloat16", lambda x: x.astype(F32), rnd((4,), dtype=BF16))
case(SELECT, "astype_uint8", lambda x: x.astype(np.uint8), ints(0, 255, 256, -1))
case(SELECT, "bitcast", lambda x: lax.bitcast_convert_type(x, np.uint32), np.array([1.0, -0.0], F32))
case(SELECT, "stop_gradient", lambda x: x * lax.stop_gradient(x), rnd((3,)))
case(SELECT, "optimization_barrier", lambda x: lax.optimization_barrier(x) ** 2, rnd((3,)))
# Gradients at ties (C087) and behind a mask (C086).
at = lambda *values: np.array(values, F32)
case(SELECT, "tie_maximum_zero", lambda x: jnp.maximum(x, 0), at(-1, 0, 1))
case(SELECT, "tie_select_zero", lambda x: jnp.where(x > 0, x, 0), at(-1, 0, 1))
case(SELECT, "tie_relu6", lambda x: jnp.where(x > 0, jnp.where(x < 6, x, 6), 0), at(-1, 0, 3, 6, 7))
case(SELECT, "tie_maximum", jnp.maximum, at(3.14), at(3.14))
case(SELECT, "tie_abs", jnp.abs, at(0.0, -0.0))
case(SELECT, "tie_max", jnp.max, at(3, 1, 3, 3))
case(SELECT, "masked_sqrt", lambda x: jnp.where(x < 1, x, jnp.sqrt(x)), at(0, 1e-9, 4))
case(SELECT, "guarded_sqrt", lambda x: jnp.sqrt(jnp.where(x < 1, 1, x)), at(0, 4))

# ---- reductions --------------------------------------------------------------------------------------
R = "reductions"
AXES = {"all": None, "first": 0, "last": -1, "two": (0, 2), "none": ()}
FOLDS = {"sum": jnp.sum, "prod": jnp.prod, "mean": jnp.mean, "max": jnp.max, "min": jnp.min, "var": jnp.var, "std": jnp.std,
         "logsumexp": jax.scipy.special.logsumexp, "any": jnp.any, "all": jnp.all}
for name, op in FOLDS.items():
    for text, axis in AXES.items():
        if axis == () and name in ("var", "std", "logsumexp"):
            continue
        case(R, f"{name}_{text}", lambda x: op(x, axis=axis), rnd((2, 3, 2)))
        case(R, f"{name}_{text}_keepdims", lambda x: op(x, axis=axis, keepdims=True), rnd((2, 3, 2)))
for name in ("sum", "prod", "mean", "max", "min", "any", "all"):
    op = FOLDS[name]
    case(R, f"{name}_int32", op, ints(1, -2, 3))
    case(R, f"{name}_uint8", op, ints(200, 100, 3, dtype=np.uint8))
    case(R, f"{name}_bool", op, np.array([True, False, True]))
    case(R, f"{name}_bfloat16", op, rnd((300,), 0.5, 1.5, dtype=BF16))
for name in ("sum", "prod", "mean", "any", "all", "logsumexp"):
    case(R, f"{name}_empty", lambda x: FOLDS[name](x, axis=0), np.zeros((0, 2), F32))
case(R, "sum_dtype", lambda x: jnp.sum(x, dtype=F32), ints(1, 2, 3))
case(R, "prod_zeros", lambda x: jnp.prod(x, axis=1), at(0, 2, 3, 0, 0, 4).reshape(2, 3))
case(R, "max_ties", lambda x: jnp.max(x, axis=1), at(3, 1, 3, 2, 2, 2).reshape(2, 3))
case(R, "max_nan", jnp.max, at(1, np.nan, 2))
case(R, "var_ddof", lambda x: jnp.var(x, axis=0, ddof=1), rnd((4, 2)))
case(R, "std_constant", jnp.std, at(2, 2, 2))
case(R, "logsumexp_infinite", jax.scipy.special.logsumexp, at(-np.inf, 0, -np.inf))
case(R, "logsumexp_all_infinite", jax.scipy.special.logsumexp, at(-np.inf, -np.inf))
case(R, "logsumexp_large", jax.scipy.special.logsumexp, at(1000, 1000.5))
for name, op in {"argmax": jnp.argmax, "argmin": jnp.argmin}.items():
    case(R, name, op, rnd((2, 5)))
    case(R, f"{name}_axis", lambda x: op(x, axis=-1), rnd((2, 5)))
    case(R, f"{name}_keepdims", lambda x: op(x, axis=0, keepdims=True), rnd((2, 5)))
    case(R, f"{name}_ties", op, at(1, 3, 3, 1))
    case(R, f"{name}_nan", op, at(1, np.nan, 3, np.nan))
    case(R, f"{name}_int8", op, ints(3, -128, 127, 127, dtype=np.int8))
for axis in (0, 1, -1):
    case(R, f"cumsum_{axis}", lambda x: jnp.cumsum(x, axis=axis), rnd((2, 5)))
case(R, "cumsum_bool", lambda x: jnp.cumsum(x, axis=0), np.array([True, True, False]))
for name, op in {"softmax": jax.nn.softmax, "log_softmax": jax.nn.log_softmax}.items():
    case(R, name, op, rnd((2, 4)))
    case(R, f"{name}_axes", lambda x: op(x, axis=(0, 1)), rnd((2, 4)))
    case(R, f"{name}_large", op, at(1000, 1001, -1000))

# ---- shape ops -----------------------------------------------------------------------------------------
S = "shape_ops"
x234 = rnd((2, 3, 4))
case(S, "broadcast_to", lambda x: jnp.broadcast_to(x, (2, 4, 3)), rnd((4, 1)))
case(S, "broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 2, 4), (1, 2)), rnd((2, 1)))
case(S, "reshape", lambda x: x.reshape(4, -1), x234)
case(S, "reshape_scalar", lambda x: x.reshape(()), rnd((1, 1)))
case(S, "ravel", jnp.ravel, x234)
case(S, "transpose", jnp.transpose, x234)
case(S, "transpose_permutation", lambda x: jnp.transpose(x, (1, -1, 0)), x234)
case(S, "swapaxes", lambda x: jnp.swapaxes(x, 0, -1), x234)
case(S, "moveaxis", lambda x: jnp.moveaxis(x, 0, -1), x234)
case(S, "squeeze", jnp.squeeze, rnd((1, 3, 1)))
case(S, "squeeze_axis", lambda x: jnp.squeeze(x, -1), rnd((1, 3, 1)))
case(S, "expand_dims", lambda x: jnp.expand_dims(x, (0, -1)), rnd((2, 3)))
case(S, "concatenate", lambda x, y: jnp.concatenate([x, y], -1), rnd((2, 3)), rnd((2, 1), seed=2))
case(S, "concatenate_promotes", lambda x, y: jnp.concatenate([x, y]), rnd((2,)), ints(1, 2))
case(S, "stack", lambda x, y: jnp.stack([x, y], 1), rnd((2, 3)), rnd((2, 3), seed=2))
for part in range(2):
    case(S, f"split_{part}", lambda x: jnp.split(x, 2, axis=2)[part], x234)
for part in range(3):
    case(S, f"split_indices_{part}", lambda x: jnp.split(x, [1, 3], axis=-1)[part], x234)
case(S, "slice", lambda x: lax.slice(x, (0, 1, 0), (2, 3, 4), (1, 1, 3)), x234)
case(S, "slice_in_dim", lambda x: x[:, :, 1:4:2], x234)
case(S, "slice_in_dim_negative", lambda x: x[:, -2:-1], x234)
case(S, "index_in_dim", lambda x: x[:, -1], x234)
case(S, "pad", lambda x: lax.pad(x, jnp.float32(0.5), ((1, 2, 0), (-1, 0, 1))), rnd((2, 3)))
case(S, "pad_value", lambda x, v: lax.pad(x, v, ((1, 2, 2),)), rnd((3,)), rnd((), seed=2))
case(S, "flip", jnp.flip, rnd((2, 3)))
case(S, "flip_axis", lambda x: jnp.flip(x, 1), rnd((2, 3)))
case(S, "tile", lambda x: jnp.tile(x, (2, 1, 2)), rnd((2, 3)))
case(S, "tile_short", lambda x: jnp.tile(x, (2,)), rnd((2, 3)))
case(S, "repeat", lambda x: jnp.repeat(x, 2, axis=1), rnd((2, 3)))
case(S, "roll", lambda x: jnp.roll(x, 2, axis=1), rnd((2, 5)))
case(S, "roll_back", lambda x: jnp.roll(x, -7, axis=1), rnd((2, 5)))
for k in (-1, 0, 1):
    case(S, f"tril_{k}", lambda x: jnp.tril(x, k), rnd((2, 3, 4)))
    case(S, f"triu_{k}", lambda x: jnp.triu(x, k), rnd((2, 3, 4)))
case(S, "dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 2)), rnd((3, 4)), I32(1), I32(2))
case(S, "dynamic_slice_clamped", lambda x, i: lax.dynamic_slice(x, (i,), (3,)), rnd((5,)), I32(4))
case(S, "dynamic_slice_negative", lambda x, i: lax.dynamic_slice(x, (i,), (2,)), rnd((5,)), I32(-2))
case(S, "dynamic_update_slice", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, I32(0))), rnd((3, 4)), rnd((1, 2), seed=2), I32(2))
case(S, "dynamic_slice_in_dim", lambda x, i: lax.dynamic_slice_in_dim(x, i, 2, axis=1), rnd((3, 4)), I32(1))
case(S, "dynamic_update_slice_in_dim", lambda x, u, i: lax.dynamic_update_slice_in_dim(x, u, i, axis=1), rnd((2, 4)), rnd((2, 2), seed=2), I32(9))
case(S, "dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, axis=1, keepdims=False), rnd((3, 4)), I32(-1))

# ---- indexing ------------------------------------------------------------------------------------------
X = "indexing"
at_indices = ints(2, 0, -1, 2, 5, -4).reshape(2, 3)
x34 = rnd((3, 4))
case(X, "take", lambda x, i: jnp.take(x, i, axis=0), x34, at_indices)
case(X, "take_last", lambda x, i: jnp.take(x, i, axis=-1), x34, at_indices)
case(X, "take_flat", lambda x, i: jnp.take(x, i), x34, ints(0, 11, 12, -12, -13))
case(X, "take_clip", lambda x, i: jnp.take(x, i, axis=0, mode="clip"), x34, at_indices)
case(X, "take_int32", lambda x, i: jnp.take(x, i), ints(5, 6, 7), ints(0, 9))
case(X, "take_uint8", lambda x, i: jnp.take(x, i), ints(5, 6, 7, dtype=np.uint8), ints(0, 9))
case(X, "take_scalar_index", lambda x, i: jnp.take(x, i, axis=1), x34, I32(2))
case(X, "take_uint8_indices", lambda x, i: jnp.take(x, i, axis=0), x34, ints(2, 0, dtype=np.uint8))
case(X, "take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), x34, ints(0, 3, -1, 1, 7, 2).reshape(3, 2))
case(X, "take_along_axis_broadcast", lambda x, i: jnp.take_along_axis(x, i, 0), x34, ints(2, 0).reshape(2, 1))
case(X, "one_hot", lambda i: jax.nn.one_hot(i, 3), ints(2, 0, 3, -1))
case(X, "one_hot_axis", lambda i: jax.nn.one_hot(i, 3, axis=0), ints(2, 0))
case(X, "one_hot_int8", lambda i: jax.nn.one_hot(i, 3, dtype=np.int8), ints(2, 0))
case(X, "at_add", lambda x, i, v: x.at[i].add(v), x34, ints(2, 0, -1, 2, 7), rnd((5, 4), seed=2))
case(X, "at_add_broadcast", lambda x, i, v: x.at[i].add(v), x34, ints(1, 1), rnd((4,), seed=2))
case(X, "gather", lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers(
    offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0, 1)), (1, 2), mode="clip"), x34, ints(0, 1, 2, 3).reshape(2, 2))
case(X, "scatter_add", lambda x, i, u: lax.scatter_add(x, i, u, lax.ScatterDimensionNumbers(
    update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)), mode="drop"), x34, ints(1, 5, 1).reshape(3, 1), rnd((3, 4), seed=2))

# ---- products ------------------------------------------------------------------------------------------
L = "linear_algebra"
highest = dict(precision=lax.Precision.HIGHEST)
for a, b in [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
             ((5, 1, 2, 3), (4, 3, 2)), ((2, 0), (0, 3))]:
    name = "x".join(map(str, a)) + "_" + "x".join(map(str, b))
    case(L, f"matmul_{name}", lambda x, y: jnp.matmul(x, y, **highest), rnd(a), rnd(b, seed=2))
    if len(a) <= 3 and len(b) <= 3:
        case(L, f"dot_{name}", lambda x, y: jnp.dot(x, y, **highest), rnd(a), rnd(b, seed=2))
case(L, "dot_scalar", jnp.dot, rnd((2, 3)), rnd((), seed=2))
case(L, "vdot", jnp.vdot, rnd((2, 3)), rnd((6,), seed=2))
case(L, "tensordot", jnp.tensordot, rnd((2, 3, 4)), rnd((3, 4, 2), seed=2))
case(L, "tensordot_1", lambda x, y: jnp.tensordot(x, y, 1), rnd((2, 3)), rnd((3, 2), seed=2))
case(L, "tensordot_0", lambda x, y: jnp.tensordot(x, y, 0), rnd((2,)), rnd((3,), seed=2))
case(L, "tensordot_pairs", lambda x, y: jnp.tensordot(x, y, ((0, 2), (1, -1))), rnd((2, 3, 4)), rnd((3, 2, 4), seed=2))
case(L, "outer", jnp.outer, rnd((2, 2)), rnd((3,), seed=2))
case(L, "matmul_int32", jnp.matmul, ints(1, 2, 3, 4).reshape(2, 2), ints(5, 6))
case(L, "matmul_mixed", jnp.matmul, ints(1, 2, 3, 4).reshape(2, 2), rnd((2,)))
case(L, "matmul_bfloat16", jnp.matmul, rnd((2, 3), dtype=BF16), rnd((3, 2), seed=2, dtype=BF16))
case(L, "matmul_preferred", lambda x, y: jnp.matmul(x, y, preferred_element_type=F32), rnd((2, 3), dtype=BF16), rnd((3, 2), seed=2, dtype=BF16))
case(L, "dot_general", lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (2,)))), rnd((2, 3, 4)), rnd((5, 4, 2), seed=2))
EINSUM = {
    "matmul": ("ij,jk->ik", (2, 3), (3, 4)), "batch": ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
    "implicit": ("ba,bc", (2, 3), (2, 4)), "inner": ("i,i->", (3,), (3,)), "outer": ("i,j->ij", (2,), (3,)),
    "transpose": ("ijk->kij", (2, 3, 4)), "sum": ("ij->j", (2, 3)), "trace": ("ii->", (3, 3)), "diagonal": ("ii->i", (3, 3)),
    "ellipsis": ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), "ellipsis_sum": ("...i->...", (2, 3, 4)),
    "three": ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)), "attention": ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
    "spaces": (" i j , j -> i ", (2, 3), (3,)), "elementwise": ("ij,ij->ij", (2, 3), (2, 3)),
    "lone": ("ij,k->i", (2, 3), (4,)), "repeated": ("iij,j->i", (2, 2, 3), (3,)),
}
for name, (subscripts, *shapes) in EINSUM.items():
    case(L, f"einsum_{name}", lambda *xs: jnp.einsum(subscripts, *xs, **highest), *[rnd(s, seed=i + 1) for i, s in enumerate(shapes)])

# ---- convolution and pooling -----------------------------------------------------------------------------
C = "convolution"
NHWC = ("NHWC", "HWIO", "NHWC")


def conv(name, lhs, rhs, strides=(1, 1), padding="VALID", numbers=NHWC, **options):
    case(C, name, lambda x, k: lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=numbers,
                                                        precision=lax.Precision.HIGHEST, **options), rnd(lhs), rnd(rhs, seed=2))


conv("conv", (2, 4, 5, 3), (3, 2, 3, 2))
conv("conv_same", (1, 4, 5, 2), (3, 2, 2, 2), padding="SAME")
conv("conv_same_lower", (1, 4, 5, 2), (3, 2, 2, 2), padding="SAME_LOWER")
conv("conv_strided_same", (1, 5, 4, 2), (3, 3, 2, 2), (2, 3), "SAME")
conv("conv_explicit", (1, 4, 4, 1), (2, 2, 1, 2), (1, 2), ((2, 0), (-1, 1)))
conv("conv_dilated", (1, 6, 6, 1), (2, 2, 1, 2), rhs_dilation=(2, 3))
conv("conv_transposed", (1, 3, 3, 2), (3, 3, 2, 1), padding=((2, 1), (1, 2)), lhs_dilation=(2, 2))
conv("conv_grouped", (1, 4, 4, 4), (2, 2, 2, 6), feature_group_count=2)
conv("conv_depthwise", (1, 4, 4, 3), (2, 2, 1, 6), feature_group_count=3)
conv("conv_batch_groups", (4, 3, 3, 1), (2, 2, 1, 4), batch_group_count=2)
conv("conv_nchw", (2, 3, 4, 4), (2, 3, 3, 3), numbers=("NCHW", "OIHW", "NCHW"))
conv("conv_1d", (2, 6, 2), (3, 2, 3), (2,), "SAME", ("NWC", "WIO", "NWC"))
conv("conv_3d", (1, 3, 3, 3, 1), (2, 2, 2, 1, 2), (1, 1, 1), "VALID", ("NDHWC", "DHWIO", "NDHWC"))


def pool(x, init, op, window, strides, padding):
    window, strides = (1, *window, 1), (1, *(strides or (1,) * len(window)), 1)
    if not isinstance(padding, str):
        padding = ((0, 0), *padding, (0, 0))
    return lax.reduce_window(x, init, op, window, strides, padding)


def average(x, window, strides, padding, count_include_pad):
    total = pool(x, 0.0, lax.add, window, strides, padding)
    if count_include_pad:
        return total / math.prod(window)
    return total / pool(jnp.ones_like(x), 0.0, lax.add, window, strides, padding)


POOLS = {"valid": ((2, 2), (2, 2), "VALID"), "same": ((3, 2), (2, 1), "SAME"), "overlap": ((3, 3), None, "VALID"),
         "padded": ((2, 2), (2, 2), ((1, 0), (0, 1)))}
for text, (window, strides, padding) in POOLS.items():
    image = rnd((2, 4, 6, 2))
    case(C, f"max_pool_{text}", lambda x: pool(x, -jnp.inf, lax.max, window, strides, padding), image)
    case(C, f"min_pool_{text}", lambda x: pool(x, jnp.inf, lax.min, window, strides, padding), image)
    case(C, f"avg_pool_{text}", lambda x: average(x, window, strides, padding, True), image)
    case(C, f"avg_pool_{text}_exclusive", lambda x: average(x, window, strides, padding, False), image)
case(C, "max_pool_ties", lambda x: pool(x, -jnp.inf, lax.max, (2,), (2,), "VALID"), at(1, 1, 2, 2, 0, 3).reshape(1, 6, 1))
case(C, "max_pool_int32", lambda x: lax.reduce_window(x, np.iinfo(I32).min, lax.max, (1, 2, 1), (1, 2, 1), "VALID"), ints(-5, -3, 2, 1).reshape(1, 4, 1))
for name, init, op in [("sum", 0.0, lax.add), ("max", -jnp.inf, lax.max), ("min", jnp.inf, lax.min)]:
    case(C, f"reduce_window_{name}", lambda x: lax.reduce_window(x, init, op, (2, 3), (1, 2), ((1, 0), (0, 1))), rnd((3, 5)))

# ---- creation ----------------------------------------------------------------------------------------------
M = "creation"
case(M, "zeros", lambda: jnp.zeros((2, 3)))
case(M, "ones_int8", lambda: jnp.ones((2,), np.int8))
case(M, "full", lambda: jnp.full((2, 2), 1.5))
case(M, "full_dtype", lambda: jnp.full((2,), 7, np.uint8))
case(M, "full_array", lambda v: jnp.full((2, 3), v), rnd((3,)))
case(M, "zeros_like", jnp.zeros_like, ints(1, 2))
case(M, "ones_like", jnp.ones_like, rnd((2,), dtype=BF16))
case(M, "full_like", lambda x: jnp.full_like(x, 2.5), rnd((2,)))
case(M, "arange", lambda: jnp.arange(5))
case(M, "arange_step", lambda: jnp.arange(2, 11, 3))
case(M, "arange_back", lambda: jnp.arange(5, -4, -2))
case(M, "arange_empty", lambda: jnp.arange(5, 2))
case(M, "arange_float", lambda: jnp.arange(4, dtype=F32))
case(M, "iota", lambda: lax.iota(np.uint8, 4))
case(M, "broadcasted_iota", lambda: lax.broadcasted_iota(I32, (2, 3), 1))
case(M, "linspace", lambda: jnp.linspace(-1.0, 2.0, 7))
case(M, "linspace_open", lambda: jnp.linspace(0.0, 1.0, 4, endpoint=False))
case(M, "linspace_one", lambda: jnp.linspace(3.0, 4.0, 1))
case(M, "linspace_int32", lambda: jnp.linspace(0, 10, 4, dtype=I32))
case(M, "eye", lambda: jnp.eye(3))
case(M, "eye_offset", lambda: jnp.eye(3, 4, k=1, dtype=I32))
case(M, "eye_below", lambda: jnp.eye(3, 2, k=-1))
case(M, "tri", lambda: jnp.tri(3, 4, k=1))
case(M, "tri_below", lambda: jnp.tri(3, k=-1))

write_tables(sys.argv[1])
