"""TotalPool2D: what the steps of a window come to: a sum of their sizes or squares, its root, or their product.

x: s8, u8 or s16[1, H, W, C] -> y: s32[1, H', W', C], plain numbers, at most 2^31 - 1 in size.  d = x - zx.

    sizes     scaled(sum of |d|, shift)
    squares   scaled(sum of d^2, shift)
    length    the root of the sum of d^2 times 2^(2 * shift), rounded down
    product   scaled(m, e + shift) with the sign of the product: m = 1 and e = 0, and with each d, in the order of rows,
              m = m * |d|; where that has more than `bits` bits, only the highest so many are kept, rounded halves up,
              and the count of the others is added to e

scaled(n, k) = n * 2^k, halves up.  Sums are exact, in 64 bits where 32 do not hold them; padded taps hold zx.  Each
rounding of a product changes it by 2^-bits of its size at most.
Sources: onnx/docs/Operators.md for the real functions; the integers are Lamina's own.  Twin: lam_total.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from codegen.fixedpoint import INT32_MAX
from codegen.ir.op import Limit, Op, RowRule
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.shape import Window
from codegen.ops.answers import (
    Consts,
    Types,
    never_in_place,
    no_macs,
    padded_windows,
    turned_windows,
    window_rows,
    window_work,
)
from codegen.ops.limits import EIGHT_BIT, batch_one, feature_map, limit, types_among
from codegen.ops.whole import OPERATIONS
from codegen.ops.windows import out_shape, pad_map, taps, windows_said
from codegen.records import record

Total = Literal["sizes", "squares", "length", "product"]
MAX_TAPS = 1 << 24
MAX_SHIFT = 1 << 30
"""With which the exponent of a product of so many factors has 32 bits."""
MAX_ROOT_SHIFT = 30
_SAID = {
    "sizes": "Sum of sizes",
    "squares": "Sum of squares",
    "length": "Root of the squares' sum",
    "product": "Product",
}
_Whole = npt.NDArray[np.int64]


@record
class TotalPool2D:
    """The total of a window over rows and columns, in fixed point."""

    h: Window
    w: Window
    total: Total
    x_zero_point: int
    shift: int
    bits: int = 31

    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-POOL-10"),
        types_among("LAM-OPS-POOL-11", 0, "the input", (*EIGHT_BIT, DType.S16)),
        limit("LAM-OPS-POOL-12", "a window must be below 2^24 taps", lambda op, ins: op.h.size * op.w.size < MAX_TAPS),
        limit(
            "LAM-OPS-POOL-13",
            "a total must be shifted by 2^30 bits at most, a root by 0 to 30",
            lambda op, ins: 0 <= op.shift <= MAX_ROOT_SHIFT if op.total == "length" else abs(op.shift) <= MAX_SHIFT,
        ),
        limit(
            "LAM-OPS-POOL-14",
            "a product must have 31 bits, or 24 of 8-bit numbers",
            lambda op, ins: op.bits == 31 or (op.bits == 24 and ins[0].dtype in EIGHT_BIT),
        ),
    )

    @property
    def said(self) -> str:
        """Its first sentence, with its windows."""
        return f"{_SAID[self.total]} of windows {windows_said(self.h, self.w)}"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = feature_map(self, ins)
        return (TensorType(out_shape(self, x, self.h, self.w, x.shape[3]), DType.S32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        steps = pad_map(ins[0].astype(np.int64) - self.x_zero_point, self.h, self.w, 0)
        found = [tap for rows in taps(steps, self.h, 1) for tap in taps(rows, self.w, 2)]
        if self.total == "product":
            y = self._product(found)
        elif self.total == "length":
            y = self._root(reduce(np.add, (d * d for d in found)))
        else:
            y = scaled(reduce(np.add, (d * d if self.total == "squares" else abs(d) for d in found)), self.shift)
        return (np.ascontiguousarray(y.astype(np.int32)),)

    def _product(self, found: Sequence[_Whole]) -> _Whole:
        mantissa, exponent = np.ones_like(found[0]), np.full_like(found[0], self.shift)
        for d in found:
            mantissa = mantissa * abs(d)
            over = np.maximum(np.frexp(mantissa.astype(np.float64))[1] - self.bits, 0).astype(np.int64)
            mantissa = (mantissa + ((1 << over) >> 1)) >> over
            exponent = exponent + over
        negative = np.logical_xor.reduce([d < 0 for d in found])
        return np.where(negative, -1, 1) * scaled(mantissa, exponent)

    def _root(self, total: _Whole) -> _Whole:
        beyond = total >> (62 - 2 * self.shift) > 0
        roots = OPERATIONS["root"](np.where(beyond, 0, total) << (2 * self.shift), 0)
        return np.where(beyond, INT32_MAX, roots)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """A sliding window of rows; those in the padding hold the zero point."""
        return window_rows(self.h, self.x_zero_point)

    macs = no_macs
    in_place = never_in_place
    work = window_work

    def turned(self) -> Op | None:
        """With rows and columns exchanged, unless that changes the order of a product's factors."""
        return turned_windows(self) if self.total != "product" or 1 in (self.h.size, self.w.size) else None

    def padded(
        self, rows: tuple[int, int], columns: tuple[int, int], value: float, x: TensorType, consts: Consts
    ) -> Op | None:
        """By the zero point."""
        return padded_windows(self, rows, columns) if value == self.x_zero_point else None


def scaled(n: _Whole, by: _Whole | int) -> _Whole:
    """Numbers from 0 up, below 2^62, times powers of two, halves up; at most 2^31 - 1."""
    up, down = np.clip(by, 0, 31), np.clip(np.negative(by), 0, 63)
    lowered = (n >> down) + ((n >> np.maximum(down - 1, 0)) & (down > 0))
    return np.where(lowered > INT32_MAX >> up, INT32_MAX, np.where(lowered > INT32_MAX, 0, lowered) << up)
