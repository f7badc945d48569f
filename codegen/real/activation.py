"""Functions inside recurrent cells, in float64 and rounded once.  Source: onnx/docs/Operators.md, LSTM."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from codegen.ir.quant import Array
from codegen.ops.functions import FUNCTIONS
from codegen.records import record


@record
class Activation:
    """An entry of `ACTIVATIONS` with the factors that it has."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0


ACTIVATIONS: Mapping[str, Callable[[Array, float, float], Array]] = {
    "Affine": lambda x, a, b: a * x + b,
    "Elu": lambda x, a, b: FUNCTIONS["Elu"](x, alpha=a),
    "HardSigmoid": lambda x, a, b: FUNCTIONS["HardSigmoid"](x, alpha=a, beta=b),
    "LeakyRelu": lambda x, a, b: FUNCTIONS["LeakyRelu"](x, alpha=a),
    "Relu": lambda x, a, b: FUNCTIONS["Relu"](x),
    "ScaledTanh": lambda x, a, b: a * np.tanh(b * x),
    "Sigmoid": lambda x, a, b: FUNCTIONS["Sigmoid"](x),
    "Softplus": lambda x, a, b: FUNCTIONS["Softplus"](x),
    "Softsign": lambda x, a, b: FUNCTIONS["Softsign"](x),
    "Tanh": lambda x, a, b: np.tanh(x),
    "ThresholdedRelu": lambda x, a, b: np.where(x > a, x, 0.0),
}
FACTORS: Mapping[str, tuple[float | None, float | None]] = {
    "Affine": (1.0, 0.0),
    "Elu": (1.0, None),
    "HardSigmoid": (0.2, 0.5),
    "LeakyRelu": (0.01, None),
    "ScaledTanh": (1.0, 1.0),
    "ThresholdedRelu": (1.0, None),
}
"""The factors that a function takes, by their defaults."""


def activated(function: Activation, x: Array) -> Array:
    """The function of each element."""
    return np.asarray(ACTIVATIONS[function.name](x.astype(np.float64), function.alpha, function.beta)).astype(x.dtype)
