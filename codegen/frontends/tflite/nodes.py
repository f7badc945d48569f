"""One operator of the model, with checked access to its options.

Decides: how options are read, and what is refused when they are of another operator.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import tflite

from codegen.errors import AttributeBad, FormUnsupported
from codegen.frontends.tflite.flat import Table
from codegen.ir.quant import Array
from codegen.records import record

CUSTOM = "custom operator "
"""How the type of an operator that is no part of TFLite begins."""

_EMPTY = struct.pack("<HHi8x", 4, 4, 4)
"""A table without fields, at byte 4."""


@record
class Spread:
    """What makes a convolution of many images of `shape` a dilated one of one image of shape `whole`.

    Along rows and along columns: the size of a block, and the padding before and after, less what is cut off.
    """

    shape: tuple[int, ...]
    whole: tuple[int, ...]
    block: tuple[int, int]
    before: tuple[int, int]
    after: tuple[int, int]


@record(eq=False)
class TfliteNode:
    """One operator.  `inputs` holds -1 for an optional input left out; `intermediates` are those of an LSTM.

    `custom`: the options of an operator that is no part of TFLite, which only its maker can read.
    `spread`: of a convolution that stands for a chain of operators (dilated.py).
    """

    name: str
    op_type: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    output_name: str
    intermediates: tuple[int, ...]
    options_type: int
    options: Table | None
    custom: bytes = b""
    spread: Spread | None = None

    @property
    def where(self) -> str:
        """The operator and the tensor it writes, as errors name them."""
        tensor = f", tensor '{self.output_name}'" if self.output_name else ""
        return f"node '{self.name}'{tensor}"

    def options_of(self, name: str) -> Any:
        """The options, as the tflite package's class of this name; all defaults when there are none.

        Fields are numbers; of a list read with `option_list`.  LAM-IMPORT-013 for options of another operator.
        """
        found = getattr(tflite, name)()
        if self.options is None:
            found.Init(_EMPTY, 4)
            return found
        if self.options_type != getattr(tflite.BuiltinOptions, name):
            hint = "the file is damaged: convert the model again"
            raise AttributeBad(f"options of kind {self.options_type}, not {name}", where=self.where, hint=hint)
        # the last scalar of a damaged table may reach behind the file
        found.Init(self.options.flat.padded, self.options.position)
        return found

    def option_list(self, slot: int) -> Array | None:
        """A list of integers among the options, by the number of its field."""
        return None if self.options is None else self.options.numbers(slot, "int32")

    def take(self, found: Any, what: str, low: int = 1, high: int = 1 << 20) -> int:
        """An option within low .. high; LAM-IMPORT-013 otherwise."""
        value = int(getattr(found, what)())
        if not low <= value <= high:
            raise AttributeBad(f"option {what} is {value}, allowed is {low} .. {high}", where=self.where)
        return value

    def real(self, found: Any, what: str) -> float:
        """A finite float option."""
        value = float(getattr(found, what)())
        if not np.isfinite(value):
            raise AttributeBad(f"option {what} is {value}", where=self.where)
        return value

    def activation(self, found: Any) -> int:
        """The fused activation, one of those that are bounds."""
        kind = int(found.FusedActivationFunction())
        bounds = tflite.ActivationFunctionType
        if kind not in (bounds.NONE, bounds.RELU, bounds.RELU_N1_TO_1, bounds.RELU6):
            hint = "write the activation as an operator of its own"
            raise FormUnsupported(f"fused activation number {kind}", where=self.where, hint=hint)
        return kind
