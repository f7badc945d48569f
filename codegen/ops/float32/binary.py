"""FloatBinary: an operation on pairs of numbers, broadcast as numpy does.

a, b: f32 -> y: f32

    add sub mul div       the exact operation, rounded once
    maximum minimum       a where it is not below (above) b; NaN where one of them is
    fmod                  a - b * (a / b towards zero), exact, of a's sign
    mod                   fmod, and b added where that is not 0 and has the other sign; 0 has b's sign
    power                 a to the power b (codegen/float32)
    prelu                 a where it is not below 0, a * b elsewhere
    squared_difference    a - b, squared

Source: onnx/docs/Operators.md.  Twins: runtime_c/include/lam_f32_elementwise.h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from codegen.float32 import power
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, clamped_bounds, in_place_when_equal, no_macs
from codegen.ops.float32.functions import clip
from codegen.ops.limits import broadcast_type, require
from codegen.records import record

Operation = Callable[[Array, Array], Array]


def _mod(a: Array, b: Array) -> Array:
    rest = np.fmod(a, b)
    moved = np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
    return np.where(rest == 0, np.copysign(np.float32(0), b), moved)


def _squared_difference(a: Array, b: Array) -> Array:
    away = a - b
    return np.asarray(away * away)


OPERATIONS: Mapping[str, Operation] = {
    "add": np.add,
    "div": np.divide,
    "fmod": np.fmod,
    "maximum": lambda a, b: np.where((a >= b) | (a != a), a, b),
    "minimum": lambda a, b: np.where((a <= b) | (a != a), a, b),
    "mod": _mod,
    "mul": np.multiply,
    "power": power,
    "prelu": lambda a, b: np.where(a < 0, a * b, a),
    "squared_difference": _squared_difference,
    "sub": np.subtract,
}


@record
class FloatBinary:
    """An operation by its name, its result held within low .. high; NaN stays."""

    name: str
    low: float = -math.inf
    high: float = math.inf

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        found = [t.dtype.value for t in ins]
        require(all(t.dtype is DType.F32 for t in ins), self, f"takes f32, got {found}")
        return (broadcast_type(self, ins, DType.F32, None),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        with np.errstate(all="ignore"):
            y = np.asarray(OPERATIONS[self.name](*ins), np.float32)
            return (clip(y, np.float32(self.low), np.float32(self.high)),)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_bounds
