"""Activations made of exp, log, tanh, sigmoid and erf: what each is in single float32 steps.

A product is rounded before it is added.  Twins: runtime_c/include/lam_f32_activations.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from codegen.float32 import FUNCTIONS
from codegen.ir.quant import Array
from codegen.ops.float32.binary import OPERATIONS
from codegen.ops.float32.functions import HALF, ONE, Function, relu

ROOT_HALF = np.float32(0.70710678118654752)
"""The root of 1/2."""
ROOT_TWO_OVER_PI = np.float32(0.79788456080286536)
CUBE = np.float32(0.044715)
"""The factor of the cube in Gelu's approximation."""


def exp_less_one(x: Array) -> Array:
    """Exp(x) - 1 without loss near 0: (exp(x) + 1) * tanh(x / 2)."""
    return np.asarray((FUNCTIONS["exp"](x) + ONE) * FUNCTIONS["tanh"](HALF * x))


def log_of_one_more(x: Array) -> Array:
    """Log(1 + x) without loss near 0, for x not below it."""
    more = ONE + x
    return np.where(more <= ONE, x, FUNCTIONS["log"](more) * x / (more - ONE))


def elu(x: Array, alpha: Any) -> Array:
    """Alpha * (exp(x) - 1) below 0."""
    return np.where(x < 0, alpha * exp_less_one(x), x)


def celu(x: Array, alpha: Any) -> Array:
    """The part of x above 0, and alpha * (exp(x / alpha) - 1) where that is below 0."""
    return np.asarray(relu(x) + OPERATIONS["minimum"](np.zeros_like(x), alpha * exp_less_one(x / alpha)))


def softplus(x: Array) -> Array:
    """Log(1 + exp(x))."""
    return np.asarray(relu(x) + log_of_one_more(FUNCTIONS["exp"](-np.abs(x))))


def gelu(x: Array) -> Array:
    """Half of x times 1 + erf(x / root of 2)."""
    return np.asarray(HALF * x * (ONE + FUNCTIONS["erf"](ROOT_HALF * x)))


def gelu_tanh(x: Array) -> Array:
    """Gelu by tanh of a cubic polynomial."""
    return np.asarray(HALF * x * (ONE + FUNCTIONS["tanh"](ROOT_TWO_OVER_PI * (x + CUBE * (x * x * x)))))


ACTIVATIONS: Mapping[str, Function] = {
    "celu": celu,
    "elu": elu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "mish": lambda x: x * FUNCTIONS["tanh"](softplus(x)),
    "selu": lambda x, alpha, gamma: gamma * elu(x, alpha),
    "softplus": softplus,
    "swish": lambda x, alpha: x * FUNCTIONS["sigmoid"](alpha * x),
}
"""By name."""
NUMBERS: Mapping[str, int] = {"celu": 1, "elu": 1, "selu": 2, "swish": 1}
"""How many numbers of its own a function takes; none where it is not here."""
