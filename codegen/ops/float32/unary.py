"""FloatUnary: a function of each number.

x: f32 -> y: f32 of the same shape, y[i] = f(x[i]) by `FUNCTIONS`, to the bit; `numbers` are the function's own.
Source: onnx/docs/Operators.md for what each is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from codegen.float32 import FUNCTIONS as TRANSCENDENTAL
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, any_layout, in_place_when_equal, no_macs, same_row
from codegen.ops.float32.activations import ACTIVATIONS
from codegen.ops.float32.activations import NUMBERS as ACTIVATION_NUMBERS
from codegen.ops.float32.functions import EXACT, Function
from codegen.ops.float32.functions import NUMBERS as EXACT_NUMBERS
from codegen.ops.limits import only_input, require
from codegen.records import record

FUNCTIONS: Mapping[str, Function] = {**EXACT, **TRANSCENDENTAL, **ACTIVATIONS}
"""By name; C has each as lam_f32_NAME."""
NUMBERS: Mapping[str, int] = {**EXACT_NUMBERS, **ACTIVATION_NUMBERS}
"""How many numbers of its own a function takes; none where it is not here."""


@record
class FloatUnary:
    """A function by its name."""

    name: str
    numbers: tuple[float, ...] = ()

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(x.dtype is DType.F32, self, f"takes f32, got {x.dtype.value}")
        count = NUMBERS.get(self.name, 0)
        require(len(self.numbers) == count, self, f"{self.name} takes {count} numbers, got {len(self.numbers)}")
        return (TensorType(x.shape, DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        with np.errstate(all="ignore"):
            return (np.asarray(FUNCTIONS[self.name](ins[0], *map(np.float32, self.numbers)), np.float32),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
