"""Writes expected_steps.h: twenty steps of every optimiser, and schedules, as Optax computes them.

    pip install jax==0.10.2 optax==0.2.8
    python make_expected_steps.py > expected_steps.h

The problem is the one of steps_test.cc: parameters b (2) and w (3, 2), gradients
curvature * (parameter - target).
"""

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import optax

W = [[0.5, -1.25], [2.0, 0.75], [-0.1, 3.0]]
W_TARGET = [[1.0, 0.5], [-1.0, 0.25], [0.3, 2.5]]
W_CURVATURE = [[1.0, 2.0], [0.5, 3.0], [0.1, 1.5]]
B, B_TARGET, B_CURVATURE = [0.3, -0.7], [-1.0, 2.0], [1.0, 0.25]

cosine = optax.warmup_cosine_decay_schedule(0.0, 0.1, 5, 20, 0.01)
OPTIMISERS = {
    "sgd": optax.sgd(0.1),
    "sgd_momentum": optax.sgd(0.05, momentum=0.9),
    "sgd_nesterov": optax.sgd(0.05, momentum=0.9, nesterov=True),
    "adam": optax.adam(0.1),
    "adam_b1": optax.adam(0.05, b1=0.8, b2=0.95, eps=1e-6, eps_root=1e-9),
    "adam_schedule": optax.adam(cosine),
    "adamw": optax.adamw(0.1, weight_decay=0.02),
    "adamw_mask": optax.adamw(0.1, weight_decay=0.1, mask=lambda p: jax.tree.map(lambda a: a.ndim > 1, p)),
    "adamw_decay_schedule": optax.adamw(0.1, weight_decay=cosine),
    "nadam": optax.nadam(0.1),
    "nadamw": optax.nadamw(0.1, weight_decay=0.02),
    "adagrad": optax.adagrad(0.5),
    "rmsprop": optax.rmsprop(0.05),
    "rmsprop_corrected": optax.rmsprop(0.05, eps_in_sqrt=False, bias_correction=True),
    "rmsprop_centered": optax.rmsprop(0.01, centered=True, initial_scale=1.0, momentum=0.9, nesterov=True),
    "lion": optax.lion(0.05, weight_decay=0.02),
    "lamb": optax.lamb(0.1, weight_decay=0.02),
    "clipped_sgd": optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1)),
    "clipped_elements": optax.chain(optax.clip(0.5), optax.sgd(0.1, momentum=0.5)),
    "ema_of_updates": optax.chain(optax.ema(0.9), optax.scale(-0.1)),
}

SCHEDULES = {
    "constant": optax.constant_schedule(0.3),
    "linear": optax.linear_schedule(0.5, 0.1, 10, 3),
    "polynomial": optax.polynomial_schedule(1.0, 0.1, 2.0, 8, 2),
    "piecewise_constant": optax.piecewise_constant_schedule(1.0, {3: 0.5, 7: 0.1}),
    "exponential": optax.exponential_decay(1.0, 4, 0.5),
    "exponential_staircase": optax.exponential_decay(1.0, 4, 0.5, transition_begin=2, staircase=True, end_value=0.2),
    "cosine": optax.cosine_decay_schedule(1.0, 12, 0.1, 2.0),
    "warmup_cosine": optax.warmup_cosine_decay_schedule(0.1, 1.0, 4, 14, 0.2),
    "warmup_exponential": optax.warmup_exponential_decay_schedule(0.0, 1.0, 4, 3, 0.7),
    "join": optax.join_schedules([optax.constant_schedule(1.0), optax.linear_schedule(0.5, 0.0, 4)], [5]),
}


def steps(optimiser, dtype):
    as_array = lambda x: jnp.asarray(x, dtype)
    params = {"b": as_array(B), "w": as_array(W)}
    targets = {"b": as_array(B_TARGET), "w": as_array(W_TARGET)}
    curvatures = {"b": as_array(B_CURVATURE), "w": as_array(W_CURVATURE)}
    state = optimiser.init(params)

    @jax.jit
    def step(params, state):
        gradients = jax.tree.map(lambda p, t, c: c * (p - t), params, targets, curvatures)
        updates, state = optimiser.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    for _ in range(20):
        params, state = step(params, state)
    assert params["w"].dtype == dtype
    return np.concatenate([np.ravel(params["b"]), np.ravel(params["w"])])


def row(name, numbers):
    return f'    {{"{name}", {{{", ".join(repr(float(x)) for x in numbers)}}}}},'


print("#pragma once")
print("// Written by make_expected_steps.py (JAX %s, Optax %s)." % (jax.__version__, optax.__version__))
print("#include <map>\n#include <string>\n#include <vector>\n")
print("namespace lockstep::optim {\n")
print("using Expected = std::map<std::string, std::vector<double>>;\n")
print("// Parameters after twenty steps: b, then w, row-major.")
print("inline const Expected expected_float64 = {")
for name, optimiser in OPTIMISERS.items():
    print(row(name, steps(optimiser, jnp.float64)))
print("};\n")
with jax.enable_x64(False):
    print("inline const Expected expected_float32 = {")
    for name, optimiser in OPTIMISERS.items():
        print(row(name, steps(optimiser, jnp.float32)))
    print("};\n")
    print("// Schedules at steps 0 to 15, float32.")
    print("inline const Expected expected_schedules = {")
    counts = jnp.arange(16, dtype=jnp.int32)
    for name, schedule in SCHEDULES.items():
        print(row(name, np.broadcast_to(np.asarray(jax.vmap(lambda c: jnp.asarray(schedule(c), jnp.float32))(counts)), 16)))
    print("};\n")
print("}  // namespace lockstep::optim")
