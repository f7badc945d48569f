"""PiecewiseLinear: a function of a 16-bit tensor as straight pieces, in integers.

x: s16 -> y: s8, u8 or s16.  Piece i serves the numbers from its knot k[i] up to the next one; k[0] = -32768.

    i = the last piece with k[i] <= x
    y = clamp((m[i] * (x - k[i]) + c[i] * 2^9 + 2^23) >> 24)                       in int64, one rounding, half up

m[i] is a slope in steps of y per step of x, in units of 2^-24, and c[i] the value at the knot in units of 2^-15, zero
point included.  `pieces_of` makes each piece as long as one straight line stays within 1/8 step of the function, so
that y is within one step of the function rounded; within 1/64 step where few pieces do (a factor, a bound), so that y
is hardly ever another number than the function rounded.  One definition for every mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import limit, only_input, require, types_among
from codegen.records import record

SLOPE_BITS, VALUE_BITS = 24, 15
TOLERANCE, FINE = 1 / 8, 1 / 64
FEW = 16
"""Pieces up to which they are fine."""
MOST_PIECES = 4096
Reals = npt.NDArray[np.float64]
Piece = tuple[int, int, int]
"""Knot, value and slope: k, c and m."""


@record
class PiecewiseLinear:
    """A unary function; `what` is its name in reports."""

    pieces: tuple[Piece, ...]
    y_dtype: DType
    y_quant: Quant
    what: str

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ACTIVATION-16", 0, "the input", (DType.S16,)),
        limit(
            "LAM-OPS-ACTIVATION-17",
            f"a function of 16-bit numbers must need at most {MOST_PIECES} straight pieces",
            lambda op, ins: len(op.pieces) <= MOST_PIECES,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(bool(self.pieces) and self.pieces[0][0] == DType.S16.low, self, "the first knot must be -32768")
        return (TensorType(x.shape, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        knots, values, slopes = np.array(self.pieces, np.int64).T
        x = ins[0].astype(np.int64)
        piece = np.searchsorted(knots, x, side="right") - 1
        y = rounded(slopes[piece] * (x - knots[piece]), values[piece])
        return (np.clip(y, self.y_dtype.low, self.y_dtype.high).astype(self.y_dtype.numpy),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


def rounded(rise: Array, value: Array) -> npt.NDArray[np.int64]:
    """The output before it is clamped: what has come since the knot, and the value there."""
    half = np.int64(1) << (SLOPE_BITS - 1)
    return np.asarray((rise + (value << (SLOPE_BITS - VALUE_BITS)) + half) >> SLOPE_BITS)


def piecewise_linear(
    function: Callable[[Reals], Reals], what: str, x: Quant, y: Quant, y_dtype: DType
) -> PiecewiseLinear:
    """The operator for a function of real numbers.  NaN becomes the zero point; infinities saturate."""
    q = np.arange(DType.S16.low, DType.S16.high + 1)
    with np.errstate(all="ignore"):
        steps = function(x.scale * (q - x.zero_point).astype(np.float64)) / y.scale
    steps = np.clip(np.where(np.isnan(steps), 0, steps) + y.zero_point, y_dtype.low, y_dtype.high)
    return PiecewiseLinear(pieces_of(steps), y_dtype, y, what)


def pieces_of(steps: Reals) -> tuple[Piece, ...]:
    """Pieces, each as long as can be found, for the wanted value at every number from -32768 on.

    Stops one piece past those that the operator may have.  They are found once: each step of an unrolled LSTM has the
    same few functions between the same scales.
    """
    return _found(np.asarray(steps, np.float64).tobytes())


@lru_cache(maxsize=32)
def _found(held: bytes) -> tuple[Piece, ...]:
    steps = np.frombuffer(held, np.float64)
    fine = _pieces(steps, FINE, FEW)
    return fine if len(fine) <= FEW else _pieces(steps, TOLERANCE, MOST_PIECES)


def _pieces(steps: Reals, miss: float, most: int) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    start = 0
    while start < len(steps) and len(pieces) <= most:
        stop = _longest(steps, start, miss)
        slope, value, _ = _line(steps[start:stop])
        knot = start + DType.S16.low
        pieces.append((knot, round(value * 2**VALUE_BITS), round(slope * 2**SLOPE_BITS)))
        start = stop
    return tuple(pieces)


def _longest(steps: Reals, start: int, miss: float) -> int:
    """The end of the longest piece from `start`, found by doubling and halving its length."""
    known, step = start + 1, 1
    while known + step <= len(steps) and _fits(steps[start : known + step], miss):
        known, step = known + step, 2 * step
    while step:
        if known + step <= len(steps) and _fits(steps[start : known + step], miss):
            known += step
        step //= 2
    return known


def _fits(part: Reals, most: float) -> bool:
    slope, _, miss = _line(part)
    return miss <= most and abs(slope) < 2 ** (31 - SLOPE_BITS)


def _line(part: Reals) -> tuple[float, float, float]:
    """Slope and first value of a straight line along the part, and the most by which it misses.

    The line is parallel to the one through both ends: of a curve that bends one way that is the best.
    """
    slope = float(part[-1] - part[0]) / max(len(part) - 1, 1)
    rest = part - slope * np.arange(len(part))
    low, high = float(rest.min()), float(rest.max())
    return slope, (low + high) / 2, (high - low) / 2
