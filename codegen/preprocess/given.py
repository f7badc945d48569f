"""What data and input say of themselves: the samples as the file has them, and what the model's input takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.ir.quant import Array, DType, Quant
from codegen.preprocess.ranges import Range
from codegen.records import record

_HALF_WORD = 1 << 15


@record
class Wanted:
    """What an input takes: the model's shape and element type, and what is stored for it where that is quantized."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    stored: DType | None
    quant: Quant | None

    @property
    def reals(self) -> Range | None:
        """The smallest and the largest real number that it holds; None for floats that nothing quantizes."""
        if self.quant is None or self.stored is None or self.stored.is_float:
            return None
        scale, zero = self.quant.scale, self.quant.zero_point
        return scale * (self.stored.low - zero), scale * (self.stored.high - zero)

    @property
    def is_real(self) -> bool:
        """Whether the model takes real numbers."""
        return np.dtype(self.dtype).kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether the model takes integers itself."""
        return np.dtype(self.dtype).kind in "iu"

    @property
    def meaning(self) -> str:
        """Scale and zero point of the model's own integers, as TOML; a network holds uint16 as int16, 2^15 less."""
        assert self.quant is not None
        return f"{{ scale = {self.quant.scale!r}, zero_point = {self._zero_point(self.quant)} }}"

    def real(self, integers: Array) -> Array:
        """What integers in the model's type stand for."""
        assert self.quant is not None
        return (np.asarray(integers, np.float64) - self._zero_point(self.quant)) * self.quant.scale

    def _zero_point(self, quant: Quant) -> int:
        shifted = self.dtype == "uint16" and self.stored is DType.S16
        return quant.zero_point + _HALF_WORD * shifted


@record(eq=False)
class Given:
    """Some samples as the file has them, at least one, of numbers; and where that is."""

    raw: Sequence[Array]
    where: str

    @property
    def shape(self) -> tuple[int, ...]:
        """That of one sample."""
        return self.raw[0].shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.raw[0].dtype

    @property
    def numbers(self) -> Array:
        """All numbers that are finite."""
        return finite(self.raw)

    def spoken(self) -> str:
        """Element type and range."""
        return f"{self.dtype} {min(x.min() for x in self.raw)} .. {max(x.max() for x in self.raw)}"


def finite(arrays: Sequence[Array]) -> Array:
    """All numbers of some arrays that are finite, one after the other."""
    numbers: Array = np.concatenate([np.asarray(x, np.float64).reshape(-1) for x in arrays])
    return np.asarray(numbers[np.isfinite(numbers)])
