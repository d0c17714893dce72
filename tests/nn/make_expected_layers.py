"""Writes expected_layers.h: parameters, outputs and values of nn/ as Flax, JAX and Optax compute them.

    pip install jax==0.10.2 flax==0.12.8 optax==0.2.8
    python make_expected_layers.py > expected_layers.h

Inputs are those of nn_test_support.h: element k is ((37 k mod 19) - 9) / 4.
"""

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

init = nn.initializers


def pattern(shape, dtype=jnp.float32):
    k = np.arange(int(np.prod(shape, dtype=int)))
    return jnp.asarray(((37 * k % 19) - 9) / 4, dtype).reshape(shape)


normal = init.normal(1.0)
LAYERS = {
    "dense": (nn.Dense(5), pattern((4, 3))),
    "dense_bias": (nn.Dense(5, bias_init=normal), pattern((4, 3))),
    "dense_no_bias": (nn.Dense(5, use_bias=False), pattern((4, 3))),
    "dense_three_axes": (nn.Dense(4, kernel_init=init.he_normal(), bias_init=normal), pattern((2, 3, 5))),
    "dense_one_axis": (nn.Dense(4, bias_init=normal), pattern((5,))),
    "dense_bfloat16": (nn.Dense(4, dtype=jnp.bfloat16, bias_init=normal), pattern((2, 3))),
    "dense_bfloat16_parameters": (nn.Dense(4, param_dtype=jnp.bfloat16), pattern((2, 3), jnp.bfloat16)),
    "dense_integers": (nn.Dense(3), jnp.arange(8, dtype=jnp.int32).reshape(2, 4)),
    "conv": (nn.Conv(4, (3, 3), bias_init=normal), pattern((2, 5, 6, 3))),
    "conv_even_kernel": (nn.Conv(2, (2, 4)), pattern((1, 5, 5, 2))),
    "conv_strided": (nn.Conv(4, (3, 2), strides=(2, 1), padding="VALID"), pattern((2, 6, 5, 3))),
    "conv_strided_same": (nn.Conv(2, (3, 3), strides=(2, 2)), pattern((1, 6, 5, 2))),
    "conv_dilated": (nn.Conv(3, (3, 3), kernel_dilation=(2, 1)), pattern((1, 7, 5, 2))),
    "conv_input_dilated": (nn.Conv(2, (3, 3), input_dilation=(2, 2), padding=((1, 1), (2, 2))), pattern((1, 3, 4, 2))),
    "conv_grouped": (nn.Conv(6, (3, 3), feature_group_count=3), pattern((2, 4, 4, 6))),
    "conv_depthwise": (nn.Conv(4, (3, 3), feature_group_count=4, use_bias=False), pattern((1, 4, 4, 4))),
    "conv_padded": (nn.Conv(2, (3, 3), padding=((1, 2), (0, 1)), use_bias=False), pattern((1, 4, 5, 2))),
    "conv_one_axis": (nn.Conv(3, (3,), bias_init=normal), pattern((2, 7, 2))),
    "conv_three_axes": (nn.Conv(2, (2, 2, 2)), pattern((1, 3, 3, 3, 2))),
    "conv_no_batch": (nn.Conv(2, (3, 3)), pattern((4, 4, 2))),
    "conv_two_batches": (nn.Conv(2, (3, 3)), pattern((2, 2, 4, 4, 2))),
    "embed": (nn.Embed(7, 4), jnp.asarray([[0, 6], [3, 3]], jnp.int32)),
    "embed_bfloat16": (nn.Embed(5, 3, dtype=jnp.bfloat16), jnp.asarray([4, 0], jnp.int32)),
    "layer_norm": (nn.LayerNorm(scale_init=normal, bias_init=normal), pattern((3, 6))),
    "layer_norm_plain": (nn.LayerNorm(use_bias=False, use_scale=False, epsilon=1e-3), pattern((2, 2, 5))),
    "layer_norm_bfloat16": (nn.LayerNorm(scale_init=normal), pattern((2, 5), jnp.bfloat16)),
    "mlp": (nn.Sequential([nn.Dense(8, bias_init=normal), nn.relu, nn.Dense(3)]), pattern((4, 6))),
    "cnn": (
        nn.Sequential([
            nn.Conv(4, (3, 3)),
            nn.relu,
            lambda x: nn.max_pool(x, (2, 2), (2, 2)),
            lambda x: x.reshape(x.shape[0], -1),
            nn.Dense(3),
        ]),
        pattern((2, 6, 6, 1)),
    ),
    "nested": (nn.Sequential([nn.Sequential([nn.Dense(4), nn.tanh]), nn.LayerNorm(), nn.Dense(2)]), pattern((3, 5))),
}

# As in training: drawn from key(3).
DROPOUTS = {
    "dropout": (nn.Dropout(0.3, deterministic=False), pattern((4, 6))),
    "dropout_broadcast": (nn.Dropout(0.5, broadcast_dims=(0,), deterministic=False), pattern((4, 6))),
    "dropout_in_sequence": (
        nn.Sequential([nn.Dropout(0.25, deterministic=False), nn.relu, nn.Dropout(0.5, deterministic=False)]),
        pattern((4, 6)),
    ),
}

INITIALIZERS = {
    "uniform": init.uniform(0.5),
    "normal": init.normal(0.2),
    "truncated_normal": init.truncated_normal(0.3, lower=-1.5, upper=2.5),
    "lecun_normal": init.lecun_normal(),
    "lecun_uniform": init.lecun_uniform(),
    "glorot_normal": init.glorot_normal(),
    "glorot_uniform": init.glorot_uniform(),
    "he_normal": init.he_normal(),
    "he_uniform": init.he_uniform(),
    "fan_out_normal": init.variance_scaling(2.0, "fan_out", "normal"),
    "fan_geo_avg_uniform": init.variance_scaling(0.5, "fan_geo_avg", "uniform"),
    "own_axes": init.variance_scaling(1.0, "fan_in", "truncated_normal", in_axis=0, out_axis=2, batch_axis=1),
}

FUNCTIONS = {
    "sigmoid": nn.sigmoid,
    "tanh": nn.tanh,
    "relu": nn.relu,
    "relu6": nn.relu6,
    "silu": nn.silu,
    "swish": nn.swish,
    "softplus": nn.softplus,
    "log_sigmoid": nn.log_sigmoid,
    "soft_sign": nn.soft_sign,
    "hard_tanh": nn.hard_tanh,
    "hard_sigmoid": nn.hard_sigmoid,
    "hard_silu": nn.hard_silu,
    "selu": nn.selu,
    "mish": jax.nn.mish,
    "gelu": nn.gelu,
    "gelu_exact": lambda x: nn.gelu(x, approximate=False),
    "elu": nn.elu,
    "elu_half": lambda x: nn.elu(x, 0.5),
    "celu": nn.celu,
    "celu_two": lambda x: nn.celu(x, 2.0),
    "leaky_relu": nn.leaky_relu,
    "leaky_relu_fifth": lambda x: nn.leaky_relu(x, 0.2),
    "glu": nn.glu,
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
}
# Of an even length, with the kinks and what overflows carelessly written formulas.
ARGUMENT = jnp.asarray([-200, -6, -3, -1.5, -1, -0.25, 0, 0.25, 0.5, 1, 2, 3, 4, 6, 50, 200], jnp.float32)
WEIGHTS = jnp.arange(1, 17, dtype=jnp.float32)  # so that gradients of softmax are not zero

LOGITS = pattern((4, 5)).at[3, 1].set(1000.0).at[3, 2].set(-1000.0)
LABELS = jnp.asarray([0, 4, 2, 2], jnp.int32)
TARGETS = pattern((5, 4)).reshape(4, 5) / 2
LOSSES = {
    "softmax_cross_entropy_with_integer_labels": lambda x: optax.softmax_cross_entropy_with_integer_labels(x, LABELS),
    "softmax_cross_entropy": lambda x: optax.softmax_cross_entropy(x, jax.nn.softmax(TARGETS)),
    "sigmoid_binary_cross_entropy": lambda x: optax.sigmoid_binary_cross_entropy(x, jax.nn.sigmoid(TARGETS)),
    "squared_error": lambda x: optax.squared_error(x, TARGETS),
    "l2_loss": lambda x: optax.l2_loss(x, TARGETS),
    "huber_loss": lambda x: optax.huber_loss(x, TARGETS),
    "huber_loss_quarter": lambda x: optax.huber_loss(x, TARGETS, delta=0.25),
}

POOLS = {
    "max_pool": lambda x: nn.max_pool(x, (2, 2), (2, 2)),
    "max_pool_same": lambda x: nn.max_pool(x, (3, 2), (2, 2), "SAME"),
    "max_pool_padded": lambda x: nn.max_pool(x, (2, 3), padding=((1, 0), (1, 2))),
    "min_pool": lambda x: nn.pooling.min_pool(x, (2, 2), (1, 2)),
    "avg_pool": lambda x: nn.avg_pool(x, (2, 2), (2, 2)),
    "avg_pool_same": lambda x: nn.avg_pool(x, (3, 3), (2, 2), "SAME"),
    "avg_pool_same_without_pad": lambda x: nn.avg_pool(x, (3, 3), (2, 2), "SAME", count_include_pad=False),
}


def numbers(values):
    return ", ".join("nan" if np.isnan(x) else repr(float(x)) for x in np.ravel(np.asarray(values, np.float64)))


def tensor(array):
    return f'{{"{array.dtype}", {{{", ".join(map(str, array.shape))}}}, {{{numbers(array)}}}}}'


def entry(name, text):
    print(f'    {{"{name}", {text}}},')


def layer(name, module, x):
    variables = module.init(jax.random.key(0), x)
    flat = flax.traverse_util.flatten_dict(variables.get("params", {}), sep="/")
    params = ", ".join(f'{{"{path}", {tensor(value)}}}' for path, value in sorted(flat.items()))
    entry(name, f"{{{{{params}}},\n     {tensor(module.apply(variables, x))}}}")


def value_and_gradient(name, function, x, weights=None):
    value = function(x)
    weigh = jnp.ones_like(value) if weights is None else weights[: value.size]
    gradient = jax.grad(lambda y: jnp.sum(function(y) * weigh))(x)
    entry(name, f"{{{tensor(value)},\n     {tensor(gradient)}}}")


print("#pragma once")
print(f"// Written by make_expected_layers.py (JAX {jax.__version__}, Flax {flax.__version__}, Optax {optax.__version__}).")
print("#include <map>\n#include <string>\n#include <vector>\n")
print('#include "lockstep/array/shape.h"\n')
print("namespace lockstep::nn {\n")
print("struct ExpectedTensor {\n  std::string dtype;\n  Shape shape;\n  std::vector<double> values;\n};\n")
print("struct ExpectedLayer {\n  std::map<std::string, ExpectedTensor> params;  // by path\n  ExpectedTensor output;\n};\n")
print("struct ExpectedFunction {\n  ExpectedTensor value;\n  ExpectedTensor gradient;\n};\n")
print("// Parameters from key(0) and the output for the input of the test.")
print("inline const std::map<std::string, ExpectedLayer> expected_layers = {")
for name, (module, x) in LAYERS.items():
    layer(name, module, x)
print("};\n")
print("// Outputs in training, drawn from key(3).")
print("inline const std::map<std::string, ExpectedTensor> expected_dropouts = {")
for name, (module, x) in DROPOUTS.items():
    entry(name, tensor(module.apply({}, x, rngs={"dropout": jax.random.key(3)})))
print("};\n")
print("// Drawn from key(7): (2, 3, 4) in float32, (2, 2, 3) in bfloat16, float16 and float64.")
print("inline const std::map<std::string, std::vector<ExpectedTensor>> expected_initializers = {")
for name, initializer in INITIALIZERS.items():
    key = jax.random.key(7)
    draws = [initializer(key, (2, 3, 4), jnp.float32)]
    draws += [initializer(key, (2, 2, 3), dtype) for dtype in (jnp.bfloat16, jnp.float16)]
    with jax.enable_x64(True):
        draws.append(initializer(key, (2, 2, 3), jnp.float64))
    entry(name, "{" + ",\n     ".join(map(tensor, draws)) + "}")
print("};\n")
print("// Values at `argument`, and the gradient of their sum weighted by 1, 2, ....")
print(f"inline const std::vector<double> activation_argument = {{{numbers(ARGUMENT)}}};")
print("inline const std::map<std::string, ExpectedFunction> expected_activations = {")
for name, function in FUNCTIONS.items():
    value_and_gradient(name, function, ARGUMENT, WEIGHTS)
print("};\n")
print("// Losses of `loss_logits`, and the gradient of their sum.")
print(f"inline const ExpectedTensor loss_logits = {tensor(LOGITS)};")
print(f"inline const ExpectedTensor loss_targets = {tensor(TARGETS)};")
print(f"inline const ExpectedTensor loss_labels = {tensor(LABELS)};")
print("inline const std::map<std::string, ExpectedFunction> expected_losses = {")
for name, function in LOSSES.items():
    value_and_gradient(name, function, LOGITS)
print("};\n")
print("// Of the pattern of shape (2, 5, 6, 2).")
print("inline const std::map<std::string, ExpectedFunction> expected_pools = {")
for name, function in POOLS.items():
    value_and_gradient(name, function, pattern((2, 5, 6, 2)))
print("};\n")
print("}  // namespace lockstep::nn")
