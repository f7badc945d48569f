"""How kernels find weights of real numbers that are stored as something else, and expand them where they are read.

Weights lie in runs; those of 4 bits two to a byte, the first one lowest, and each run begins a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from codegen.float32.weights import MOST, codes, steps
from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, Storage, taken_off
from codegen.kernels.packed import Fields, filled_to
from codegen.records import record

Runs = Callable[[Array], Sequence[Array]]
"""Weights [outputs, ...] in the order of reading: parts of equal runs, [runs, weights of a run]."""

_TYPES = {"": "float32", "f16": "uint16", "bf16": "uint16", "s8": "int8", "u8": "int8", "s4": "uint8", "u4": "uint8"}
_NAMES = {"f16": "float16", "bf16": "bfloat16", "s8": "int8", "u8": "uint8", "s4": "int4", "u4": "uint4"}
_TWO_IN_A_BYTE = ("s4", "u4")
_APART = {"u8": "int16", "u4": "int8"}
"""Storages with a number for each scale that is added to its integers, and what holds that."""
_TWO = Fields(4, 8)
_LESS = "added to the integers of a scale: they are stored as so much less"


@record
class Stored:
    """Where a weight is, and what it is there.  With a `block` each so many inputs of an output have a scale."""

    storage: Storage = ""
    block: int = 0

    @property
    def scaled(self) -> bool:
        """Whether each output has a scale."""
        return self.storage in MOST

    @property
    def apart(self) -> bool:
        """Whether each output also has a number that is added to its integers."""
        return self.storage in _APART

    @property
    def less_type(self) -> str:
        """The C99 type of that number."""
        return f"{_APART[self.storage]}_t"

    @property
    def fields(self) -> Fields:
        """How two weights lie in a byte."""
        return _TWO

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of an element."""
        return np.dtype(_TYPES[self.storage])

    @property
    def ctype(self) -> str:
        """The C99 type of an element."""
        return "float" if self.dtype.kind == "f" else f"{self.dtype.name}_t"

    @property
    def in_turn(self) -> int:
        """Weights in an element."""
        return 2 if self.storage in _TWO_IN_A_BYTE else 1

    def elements(self, weights: int) -> int:
        """Elements of a run of so many."""
        return -(-weights // self.in_turn)

    def element(self, index: int) -> int:
        """Which element of its run a weight is in."""
        return index // self.in_turn

    def place(self, index: int) -> int:
        """Which of the weights of that element it is."""
        return index % self.in_turn

    @property
    def headers(self) -> tuple[str, ...]:
        """Whose functions expand weights."""
        return ("lam_f32_storage.h",) if self.storage in ("f16", "bf16") else ()

    @property
    def said(self) -> str:
        """What the storage is called, behind what a form is."""
        each = f", a scale per {self.block}" if self.block else ""
        return f"; weights stored as {_NAMES[self.storage]}{each}" if self.storage else ""

    def fields_of(self, weights: Array, runs: Runs) -> tuple[Field, ...]:
        """Params `weights`, and `scale` and `less` where they have them, block by block, the larger elements first."""
        size = sum(len(part) * self.elements(part.shape[1]) for part in runs(np.empty(weights.shape, np.bool_)))
        packed = Field.later("weights", self.dtype, size, lambda: self._packed(weights, runs))
        if not self.scaled:
            return (packed,)
        count = weights.size // self.block if self.block else len(weights)
        scale = Field.later("scale", np.float32, count, lambda: self._steps(weights)[1].T.reshape(-1))
        if not self.apart:
            return scale, packed
        return (
            scale,
            Field.later(
                "less",
                np.dtype(_APART[self.storage]),
                count,
                lambda: self._less(self._steps(weights)[0]).T.reshape(-1),
                _LESS,
            ),
            packed,
        )

    def _packed(self, weights: Array, runs: Runs) -> Array:
        parts = runs(self._as_stored(weights))
        if self.in_turn == 1:
            return np.concatenate([part.reshape(-1) for part in parts]).astype(self.dtype, copy=False)
        return np.concatenate([self._in_bytes(part).reshape(-1) for part in parts])

    def _in_bytes(self, part: Array) -> Array:
        full = filled_to(part, self.in_turn, axis=1)
        return self.fields.packed(full.reshape(len(part), -1, self.in_turn))

    def _as_stored(self, weights: Array) -> Array:
        if self.scaled:
            integers = self._steps(weights)[0]
            return self._without(integers, self._less(integers)) if self.apart else integers
        return codes(weights, self.storage) if self.storage else weights

    def _less(self, integers: Array) -> Array:
        """What is taken off the integers of each scale, [outputs, blocks]."""
        less = taken_off(integers.reshape(len(integers), -1, self.block or integers[0].size), 8 // self.in_turn)
        assert less is not None, "numbers that the storage holds"
        return less.astype(_APART[self.storage])

    def _without(self, integers: Array, less: Array) -> Array:
        """Integers without that."""
        return (integers.reshape(*less.shape, -1) - less[:, :, None]).reshape(integers.shape)

    def _steps(self, weights: Array) -> tuple[Array, Array]:
        return steps(weights, self.storage, self.block)


def stored_of(node: NodeView) -> Stored:
    """That of a layer's weights, its second input."""
    return Stored(node.ins[1].storage, node.ins[1].block)
