"""A case: one operator on inputs, by which the laws of operators are tried.

Decides: that what is computed is drawn at random, the same for the same name.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Storage, TensorType
from codegen.records import record

Input: TypeAlias = TensorType | Array | int
_SPREAD = 20
"""Standard deviation of real numbers."""


@record(eq=False, slots=False)
class Case:
    """One operator.  `ins` are computed inputs (types), constants (arrays), or the index of an input to repeat.

    `few`: computed inputs are drawn from so many numbers from 0 on; 0 from all that their types have.
    `bits`: those in which the second input, a constant, is to be stored; 0 for its type's.  `block`: so many of its
    numbers share a factor; `apart`: once what each output, or block, has of its own is taken off.  `storage`: what it
    is to be stored as, which holds its numbers.
    """

    name: str
    op: Op
    ins: tuple[Input, ...]
    few: int = 0
    bits: int = 0
    block: int = 0
    apart: bool = False
    storage: Storage = ""

    @cached_property
    def types(self) -> tuple[TensorType, ...]:
        """Types of the inputs."""
        return tuple(self._type(i) for i in range(len(self.ins)))

    def _type(self, index: int) -> TensorType:
        given = self.ins[index]
        if isinstance(given, int):
            return self._type(given)
        if isinstance(given, TensorType):
            return given
        kind = TensorType(given.shape, DType.of(given))
        if index != 1:
            return kind
        return replace(kind, bits=self.bits, block=self.block, apart=self.apart, storage=self.storage)

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """Inputs: the constants, and random numbers for what is computed; nobody may write to them."""
        return tuple(_kept(x if isinstance(x, np.ndarray) else self._draw(i)) for i, x in enumerate(self.ins))

    def _draw(self, index: int) -> Array:
        kind = self.types[index]
        drawn = random_array(np.random.default_rng([zlib.crc32(self.name.encode()), index]), kind.shape, kind.dtype)
        return (drawn % self.few).astype(drawn.dtype) if self.few else drawn

    @property
    def consts(self) -> tuple[int, ...]:
        """Inputs that are known at compile time."""
        return tuple(i for i, x in enumerate(self.ins) if isinstance(x, np.ndarray))

    @property
    def dynamic(self) -> tuple[int, ...]:
        """Inputs that are computed."""
        return tuple(i for i in range(len(self.ins)) if i not in self.consts)


def _kept(x: Array) -> Array:
    view = np.asarray(x).view()
    view.flags.writeable = False
    return view


def random_array(rng: np.random.Generator, shape: Sequence[int], dtype: DType) -> Array:
    """Integers over the whole range of the type, or normal numbers for f32."""
    if dtype.is_float:
        return rng.normal(0, _SPREAD, shape).astype(np.float32)
    return rng.integers(dtype.low, dtype.high, shape, endpoint=True).astype(dtype.numpy)


def same(a: Array, b: Array) -> bool:
    """Whether two results are equal; NaN equals NaN."""
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
