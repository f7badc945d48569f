"""Remainder: what is left of numbers of one scale divided by those of another, as float32 has these, to the bit.

a, b: s8, u8 or s16 -> y: s32, units without a scale, broadcast as numpy does.  The scales are sa = ma * 2^ea and
sb = mb * 2^eb, with odd ma and mb.

    A, B = |a - za| * ma and |b - zb| * mb, rounded to 24 bits, halves to even: what float32 holds of a real number
    R    = (A * 2^da) modulo (B * 2^db)          da = ea - min(ea, eb), db likewise: exact; 0 where B is 0
    y    = (R + half) >> down, with a's sign     half = 2^(down - 1), or 0; its unit is 2^(min(ea, eb) + down)

A quotient that is nearly whole leaves nearly nothing or nearly the divisor, as rounding to float32 has it: hence that
rounding is done here too.
Source: onnx/docs/Operators.md, Mod with fmod 1.  Twin: lam_remainder_of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, in_place_when_equal, no_macs
from codegen.ops.limits import EIGHT_BIT, broadcast_type, limit
from codegen.records import record

_FLOAT_BITS = 24
"""Of a number of float32."""
_BITS = 62
"""That hold A * 2^da and B * 2^db."""
_KEPT = 31
"""Bits of a result."""


@record
class Remainder:
    """The remainder of two tensors of different scales, with the sign of the first."""

    a: Quant
    b: Quant
    down: int

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        limit(
            "LAM-OPS-ELEMENTWISE-22",
            "both inputs must be s8, u8 or s16",
            lambda op, ins: all(t.dtype in (*EIGHT_BIT, DType.S16) for t in ins),
        ),
        limit(
            "LAM-OPS-ELEMENTWISE-23",
            "numbers of either input must be below 2^62 units of both scales",
            lambda op, ins: max(_most(op, ins)) < 1 << _BITS,
        ),
        limit(
            "LAM-OPS-ELEMENTWISE-24",
            "remainders must fit 31 bits",
            lambda op, ins: min(_most(op, ins)) + (1 << op.down >> 1) < 1 << _KEPT + op.down,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, DType.S32, None),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (ma, da), (mb, db) = self.factors()
        a, b = ins[0].astype(np.int64) - self.a.zero_point, ins[1].astype(np.int64) - self.b.zero_point
        divisor = _held(np.abs(b) * mb) << db
        rest = np.where(divisor == 0, 0, (_held(np.abs(a) * ma) << da) % np.maximum(divisor, 1))
        return ((np.sign(a) * ((rest + (1 << self.down >> 1)) >> self.down)).astype(np.int32),)

    def factors(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Odd mantissa and bits to the left, of each input."""
        (ma, ea), (mb, eb) = _odd(self.a.scale), _odd(self.b.scale)
        return (ma, ea - min(ea, eb)), (mb, eb - min(ea, eb))

    @property
    def unit(self) -> float:
        """What one unit of the result stands for."""
        return math.ldexp(1.0, min(_odd(q.scale)[1] for q in (self.a, self.b)) + self.down)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


def remainder_of(a: Quant, b: Quant, dtypes: tuple[DType, DType]) -> Remainder:
    """With as many bits behind as the result has room for."""
    least = min(_most(Remainder(a, b, 0), [TensorType((), dtype) for dtype in dtypes]))
    return Remainder(a, b, max(0, (least + (least >> _KEPT)).bit_length() - _KEPT))


def _most(op: Remainder, ins: Sequence[TensorType]) -> tuple[int, int]:
    """The largest A * 2^da and B * 2^db."""
    sides = zip((op.a, op.b), ins, op.factors(), strict=True)
    a, b = (int(_held(np.asarray(t.dtype.reach(q.zero_point) * m))) << d for q, t, (m, d) in sides)
    return a, b


def _odd(scale: float) -> tuple[int, int]:
    """A float32 number as an odd number times a power of two."""
    part, exponent = math.frexp(scale)
    mantissa = int(part * 2**_FLOAT_BITS)
    zeros = (mantissa & -mantissa).bit_length() - 1
    return mantissa >> zeros, exponent - _FLOAT_BITS + zeros


def _held(x: Array) -> Array:
    """Numbers from 0 on, rounded to 24 bits, halves to even: as float32 has it."""
    return np.asarray(x.astype(np.float32).astype(np.int64))
