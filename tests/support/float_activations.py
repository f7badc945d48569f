"""Activations of one number in double precision, without cancellation: what those of float32 are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

ROOT_HALF, ROOT_EIGHT_OVER_PI = math.sqrt(0.5), math.sqrt(8 / math.pi)
SELU = (1.67326319217681884765625, 1.05070102214813232421875)


def sigmoid(x: float) -> float:
    """1 / (1 + e^-x)."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def softplus(x: float) -> float:
    """log(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def mish(x: float) -> float:
    """x * tanh(softplus(x))."""
    return x * math.tanh(softplus(x))


def gelu(x: float) -> float:
    """x times the normal distribution."""
    return x * 0.5 * math.erfc(-ROOT_HALF * x)


def gelu_tanh(x: float) -> float:
    """Gelu's approximation, as a sigmoid."""
    return x * sigmoid(ROOT_EIGHT_OVER_PI * (x + 0.044715 * x**3))


def swish(x: float) -> float:
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def elu(x: float) -> float:
    """e^x - 1 below 0."""
    return math.expm1(x) if x < 0 else x


def selu(x: float) -> float:
    """Elu with the two numbers that it has by default."""
    return SELU[1] * (SELU[0] * math.expm1(x) if x < 0 else x)


PLAIN: Mapping[str, Callable[[float], float]] = {
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "mish": mish,
    "softplus": softplus,
}
"""Those without numbers of their own."""
