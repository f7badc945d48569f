"""Real functions of one variable by their ONNX names, in float64.

Decides what each function is, its attributes' defaults included; ops/unary.py makes tables of them.
Source: onnx/docs/Operators.md; `Swish` is x * sigmoid(alpha * x), `GeluTanh` is Gelu with approximate="tanh".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
RealFunction = Callable[..., Reals]


def _erf(x: Reals) -> Reals:
    return np.array([math.erf(v) for v in x.ravel()]).reshape(x.shape)


def _sigmoid(x: Reals) -> Reals:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _softplus(x: Reals) -> Reals:
    return np.asarray(np.logaddexp(0.0, x))


def _hard_sigmoid(x: Reals, alpha: float = 0.2, beta: float = 0.5) -> Reals:
    return np.asarray(np.clip(alpha * x + beta, 0.0, 1.0))


def _elu(x: Reals, alpha: float = 1.0) -> Reals:
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


def _celu(x: Reals, alpha: float = 1.0) -> Reals:
    return np.asarray(np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(np.minimum(x, 0) / alpha)))


def _selu(x: Reals, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Reals:
    return gamma * _elu(x, alpha)


def _gelu_tanh(x: Reals) -> Reals:
    return np.asarray(0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))))


def _shrink(x: Reals, bias: float = 0.0, lambd: float = 0.5) -> Reals:
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0.0))


FUNCTIONS: Mapping[str, RealFunction] = {
    "Abs": np.abs,
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "Ceil": np.ceil,
    "Celu": _celu,
    "Clip": lambda x, min=-math.inf, max=math.inf: np.minimum(np.maximum(x, min), max),
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Elu": _elu,
    "Erf": _erf,
    "Exp": np.exp,
    "Floor": np.floor,
    "Gelu": lambda x: 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0))),
    "GeluTanh": _gelu_tanh,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda x: x * _hard_sigmoid(x, 1.0 / 6.0, 0.5),
    "Identity": lambda x: x,
    "LeakyRelu": lambda x, alpha=0.01: np.where(x < 0, alpha * x, x),
    "Log": np.log,
    "Mish": lambda x: x * np.tanh(_softplus(x)),
    "Neg": np.negative,
    "Reciprocal": np.reciprocal,
    "Relu": lambda x: np.maximum(x, 0.0),
    "Round": np.rint,
    "Rsqrt": lambda x: 1.0 / np.sqrt(x),
    "Selu": _selu,
    "Shrink": _shrink,
    "Sigmoid": _sigmoid,
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Softplus": _softplus,
    "Softsign": lambda x: x / (1.0 + np.abs(x)),
    "Sqrt": np.sqrt,
    "Swish": lambda x, alpha=1.0: x * _sigmoid(alpha * x),
    "Tan": np.tan,
    "Tanh": np.tanh,
    "ThresholdedRelu": lambda x, alpha=1.0: np.where(x > alpha, x, 0.0),
}
"""Name to function; attributes are keyword arguments named as in ONNX."""
