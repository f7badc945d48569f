"""Weighted sums of 16-bit numbers over three axes and more.

Decides: that they are done axis by axis until two are left, with 32 bits between: 16-bit numbers leave no room there;
and that weights are in units of 2^-22.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Mode, Quant, TensorType
from codegen.ops import Reshape, ResizeWeighted
from codegen.ops.resize import Weights
from codegen.records import record
from codegen.settle.states import Request

FINE_BITS, FINE_SHIFT = 22, 15
"""Of weights, and by how much sums over rows are shifted, so that 47 bits hold those over both."""
_SHIFT_OF_32 = FINE_BITS + 8
"""The same of 32-bit numbers, of whose sums 24 bits are kept."""
_MORE = 14
"""Bits that 32 have beside those of a difference of two 16-bit numbers."""
_ROUNDING = 2.0**-20
"""By which sums of shares may be off."""
_ONE = np.ones((1, 1))
"""Weights of an axis of one element that stays."""


@record
class WordSums:
    """The sums over the rows and columns that are left, and what their numbers are."""

    x: TensorType
    rows: tuple[Weights, ...]
    columns: tuple[Weights, ...]

    def of(self, y: Quant, dtype: DType, ends: tuple[int, int], mode: Mode) -> Op:
        """As an operator."""
        assert self.x.quant is not None, "it is held in integers with a scale"
        shift = FINE_SHIFT if self.x.dtype is DType.S16 else _SHIFT_OF_32
        return ResizeWeighted(self.rows, self.columns, FINE_BITS, self.x.quant, y, dtype, *ends, mode, shift)

    def make(self, mode: Mode) -> Callable[[Request, int, int], Op]:
        """As an operator that makes what is requested."""
        return lambda request, low, high: self.of(request.quant, request.dtype, (low, high), mode)


def sums_of_words(x: TensorType, axes: Sequence[Array], images: int, mode: Mode) -> tuple[tuple[Op, ...], WordSums]:
    """Sums of an image of so many maps below each other, by the weights [outputs, elements] of each of their axes."""
    made, before, channels = list[Op](), images, x.shape[-1]
    *lead, rows, columns = (_ONE, *axes)
    exactly: Mode = "single" if mode == "ort" else mode
    finer = _between(x, math.prod(np.abs(weights).sum(1).max() for weights in lead))
    assert finer.quant is not None, "it is held in integers with a scale"
    for i, weights in enumerate(lead):
        outputs, elements = weights.shape
        if not np.array_equal(weights, np.eye(outputs, elements)):
            behind = math.prod(w.shape[1] for w in (*lead[i + 1 :], rows, columns)) * channels
            one = WordSums(x, _stacked(weights, before), windows_of(_ONE, FINE_BITS))
            made += [Reshape((1, before * elements, 1, behind))]
            made += [one.of(finer.quant, finer.dtype, (finer.dtype.low, finer.dtype.high), exactly)]
            x = finer
        before *= outputs
    made += [Reshape((1, before * rows.shape[1], columns.shape[1], channels))] if made else []
    return tuple(made), WordSums(x, _stacked(rows, before), windows_of(columns, FINE_BITS))


def windows_of(rows: Array, bits: int) -> tuple[Weights, ...]:
    """Weights [outputs, elements] as windows as wide as the widest, in units of 2^-bits."""
    whole = _whole(rows * 2**bits, 1 << bits)
    ends = [(int(used[0]), int(used[-1])) for used in (np.flatnonzero(row) for row in whole)]
    count = max(last - first + 1 for first, last in ends)
    starts = [min(first, rows.shape[1] - count) for first, _ in ends]
    return tuple((i, tuple(row[i : i + count].tolist())) for i, row in zip(starts, whole, strict=True))


def _stacked(weights: Array, images: int) -> tuple[Weights, ...]:
    """Of so many maps below each other."""
    windows, height = windows_of(weights, FINE_BITS), weights.shape[1]
    return tuple((at + i, v) for at in range(0, images * height, height) for i, v in windows)


def _between(x: TensorType, gain: float) -> TensorType:
    """Integers of 32 bits for numbers that go so many times as far as those of x."""
    assert x.quant is not None, "it is held in integers with a scale"
    more = _MORE - math.ceil(math.log2(gain) - _ROUNDING)
    return replace(x, dtype=DType.S32, quant=Quant(x.quant.scale * 2.0**-more, 0))


def _whole(rows: Array, one: int) -> Array:
    """Weights as whole numbers, each window's of which come to `one`: none is off by one or more."""
    whole = np.rint(rows).astype(np.int64)
    for row, wanted in zip(whole, rows, strict=True):
        missing = one - int(row.sum())
        order = np.argsort((row - wanted) * np.sign(missing), kind="stable")
        row[order[: abs(missing)]] += np.sign(missing)
    return whole
