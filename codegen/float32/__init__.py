"""The functions of float32, in numpy; bit-exact twin of runtime_c/include/lam_f32*.h.

Decides: what every function returns, to the bit, for all 2^32 inputs.  Made of integers, so the same on every chip.
Leaves to the operators which function is applied to what.  Accuracy: docs/numerics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy.typing as npt

from codegen.float32.arc import acos, asin, atan
from codegen.float32.area import acosh, asinh, atanh
from codegen.float32.arrays import Float32Array
from codegen.float32.circle import cos, sin, tan
from codegen.float32.error_function import erf
from codegen.float32.exponential import cosh, exp, expm1, sigmoid, sinh, tanh
from codegen.float32.extremes import maximum, minimum
from codegen.float32.fused import fma
from codegen.float32.gated import gelu, gelu_tanh, mish, swish
from codegen.float32.logarithm import log
from codegen.float32.powers import power
from codegen.float32.soft import softplus

Function = Callable[[npt.NDArray[Any]], Float32Array]
FunctionOfTwo = Callable[[npt.NDArray[Any], npt.NDArray[Any]], Float32Array]

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "acos": acos,
        "acosh": acosh,
        "asin": asin,
        "asinh": asinh,
        "atan": atan,
        "atanh": atanh,
        "cos": cos,
        "cosh": cosh,
        "erf": erf,
        "exp": exp,
        "expm1": expm1,
        "gelu": gelu,
        "gelu_tanh": gelu_tanh,
        "log": log,
        "mish": mish,
        "sigmoid": sigmoid,
        "sin": sin,
        "sinh": sinh,
        "softplus": softplus,
        "tan": tan,
        "tanh": tanh,
    }
)
"""One-argument functions by name; C has them as lam_f32_<name>."""

FUNCTIONS_OF_TWO: Mapping[str, FunctionOfTwo] = MappingProxyType(
    {"maximum": maximum, "minimum": minimum, "power": power, "swish": swish}
)
"""Two-argument functions by name; C has them as lam_f32_<name>."""

__all__ = [
    "FUNCTIONS",
    "FUNCTIONS_OF_TWO",
    "Float32Array",
    "Function",
    "FunctionOfTwo",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "fma",
    "gelu",
    "gelu_tanh",
    "log",
    "maximum",
    "minimum",
    "mish",
    "power",
    "sigmoid",
    "sin",
    "sinh",
    "softplus",
    "swish",
    "tan",
    "tanh",
]
