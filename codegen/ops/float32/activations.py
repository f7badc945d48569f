"""Activations that take numbers of their own: what each is in single float32 steps.

A product is rounded before it is added.  Twins: runtime_c/include/lam_f32_activations.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from codegen.float32 import expm1, swish
from codegen.ir.quant import Array
from codegen.ops.float32.binary import OPERATIONS
from codegen.ops.float32.functions import Function, relu


def elu(x: Array, alpha: Any) -> Array:
    """Alpha * (exp(x) - 1) below 0."""
    return np.where(x < 0, alpha * expm1(x), x)


def celu(x: Array, alpha: Any) -> Array:
    """The part of x above 0, and alpha * (exp(x / alpha) - 1) where that is below 0."""
    return np.asarray(relu(x) + OPERATIONS["minimum"](np.zeros_like(x), alpha * expm1(x / alpha)))


ACTIVATIONS: Mapping[str, Function] = {
    "celu": celu,
    "elu": elu,
    "selu": lambda x, alpha, gamma: gamma * elu(x, alpha),
    "swish": swish,
}
"""By name."""
NUMBERS: Mapping[str, int] = {"celu": 1, "elu": 1, "selu": 2, "swish": 1}
"""How many numbers of its own a function takes; none where it is not here."""
