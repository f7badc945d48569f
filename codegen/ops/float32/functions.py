"""Functions of one float32 number, as FloatUnary names them: what each is in single steps, all of them float32.

A product is rounded before it is added.  Where a comparison decides, NaN fails it: which branch it then takes is part
of the definition.  Twins: runtime_c/include/lam_f32_elementwise.h, which has a function `lam_f32_NAME` for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from codegen.float32.storage import as_bfloat16, from_f16, to_f16
from codegen.ir.quant import Array

Function = Callable[..., Array]
"""Of an array and of the function's own numbers, which are float32 as well."""

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)


def relu(x: Array) -> Array:
    """0 where x is not above it."""
    return np.where(x <= 0, ZERO, x)


def leaky_relu(x: Array, alpha: Any) -> Array:
    """Alpha times x below 0."""
    return np.where(x < 0, alpha * x, x)


def thresholded_relu(x: Array, alpha: Any) -> Array:
    """X above alpha, 0 elsewhere."""
    return np.where(x > alpha, x, ZERO)


def sign(x: Array) -> Array:
    """1, -1, or x itself where it is 0 or NaN."""
    return np.where(x > 0, ONE, np.where(x < 0, -ONE, x))


def hard_sigmoid(x: Array, alpha: Any, beta: Any) -> Array:
    """Alpha times x plus beta, held in 0 .. 1."""
    return clip(alpha * x + beta, ZERO, ONE)


def clip(x: Array, least: Any, most: Any) -> Array:
    """X, `least` where it is below that, then `most` where that is above."""
    above = np.where(x < least, least, x)
    return np.where(above > most, most, above)


def softsign(x: Array) -> Array:
    """X / (1 + |x|)."""
    return np.asarray(x / (ONE + np.abs(x)))


def shrink(x: Array, bias: Any, lambd: Any) -> Array:
    """X brought closer to 0 by bias, and 0 where it is within lambd of it."""
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, ZERO))


def as_float16(x: Array) -> Array:
    """The nearest number that a float16 holds, halves to even; infinite from 65,520 on."""
    return from_f16(to_f16(x))


EXACT: Mapping[str, Function] = {
    "abs": np.abs,
    "as_bfloat16": as_bfloat16,
    "as_float16": as_float16,
    "ceil": np.ceil,
    "floor": np.floor,
    "hard_sigmoid": hard_sigmoid,
    "hard_swish": lambda x, alpha, beta: x * hard_sigmoid(x, alpha, beta),
    "inverse": lambda x: ONE / x,
    "leaky_relu": leaky_relu,
    "neg": np.negative,
    "relu": relu,
    "round": np.rint,
    "rsqrt": lambda x: ONE / np.sqrt(x),
    "shrink": shrink,
    "sign": sign,
    "softsign": softsign,
    "sqrt": np.sqrt,
    "squared": lambda x: x * x,
    "thresholded_relu": thresholded_relu,
}
"""Those of the exact operations alone, by name."""

NUMBERS: Mapping[str, int] = {
    "hard_sigmoid": 2,
    "hard_swish": 2,
    "leaky_relu": 1,
    "shrink": 2,
    "thresholded_relu": 1,
}
"""How many numbers of its own a function takes; none where it is not here."""
