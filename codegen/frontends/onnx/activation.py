"""The attributes of functions of one variable, and their defaults.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "Celu": {"alpha": 1.0},
    "Elu": {"alpha": 1.0},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "LeakyRelu": {"alpha": 0.01},
    "Selu": {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    "Shrink": {"bias": 0.0, "lambd": 0.5},
    "Swish": {"alpha": 1.0},
    "ThresholdedRelu": {"alpha": 1.0},
}
