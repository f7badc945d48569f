"""Sums and differences of two tensors of one shape, in the requantization of fast.py, some elements per turn.

In mode `tflite` the input of the larger scale has TFLite's factor of exactly one half: it is shifted by 19 instead of
multiplied.  What is broadcast, and mode `ort`, is left to binary.py.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Told
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType, Requant
from codegen.kernels.blocked.cores import OTHERS
from codegen.kernels.common import channels, range_field
from codegen.kernels.fast import fast_headers, fast_requant, saturation, takes_one_product
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import BYTES
from codegen.ops import Add
from codegen.ops.add import Scaling, left_shift, tflite_scalings
from codegen.records import record

_LEFT_SHIFT = left_shift(DType.S8)
_HALF = (1 << 30, 0)
_PER_TURN = 4
_SUM = "ma, mb, offset, places: y = (ma * a + mb * b + offset) >> (places + 1), then limited"
_REACH = 2 * 255 << (_LEFT_SHIFT - 1)


@record
class TermContext:
    """One input: its type, and in mode `tflite` whether its factor is one half; others are less, or 0.

    `zero`, `factor` and `places` say which of the parameters `terms` they are.
    """

    t: str
    half: bool
    zero: int

    @property
    def factor(self) -> int:
        """Place of the multiplier."""
        return self.zero + 1

    @property
    def places(self) -> int:
        """Place of the right shift."""
        return self.zero + 2


@record
class AddContext:
    """Literals of one sum.  `form` and `saturate` as in FastRequant; mode `single` has no form.

    `folded`: one input has a factor of one half, and its zero point is taken off the other one's product.
    """

    mode: str
    form: str
    sign: str
    a: TermContext
    b: TermContext
    y_t: str
    saturate: str
    folded: bool
    channels: int
    per_turn: int

    @property
    def told(self) -> Told:
        """The number of elements, which is asked for once."""
        return Told(("channels",), row=1.0)

    @property
    def rest(self) -> int:
        """Elements of a pixel that are left over of whole turns."""
        return self.channels % self.per_turn


def _fit(node: NodeOf[Add]) -> Fit | None:
    op = node.op
    if node.dynamic != (0, 1) or op.formula not in ("single", "tflite") or op.rounding != "half_up":
        return None
    if any(t.dtype not in BYTES for t in (*node.ins, *node.outs)):
        return None
    if not node.ins[0].shape == node.ins[1].shape == node.outs[0].shape:
        return None
    exact = _folded(op) is not None if op.formula == "single" else takes_one_product(_output(op), _REACH)
    why = f"{_PER_TURN} elements per turn, one addend for rounding and zero point"
    return Fit(_context(node), _params(op), why=why, headers=_headers(op)) if exact else None


def _headers(op: Add) -> tuple[str, ...]:
    """Mode `single` takes of the fast form only the step that saturates."""
    saturate = saturation(op.low, op.high)
    return fast_headers(saturate) if saturate or op.mode == "tflite" else ("lam_requant.h",)


def _folded(op: Add) -> tuple[int, int, int, int] | None:
    """Factors, offset and shift of twice the output in mode `single`, with one half and the zero point in the offset.

    None where a sum could leave 32 bits.
    """
    ma, mb, shift = op.single_steps()
    mb *= op.sign
    offset = ((2 * op.y_quant.zero_point + 1) << (shift - 1)) - ma * op.a.zero_point - mb * op.b.zero_point
    fits = abs(offset) + 255 * (abs(ma) + abs(mb)) < 1 << 31
    return (ma, mb, offset, shift - 1) if fits else None


def _output(op: Add) -> Requant:
    """The last step of mode `tflite`, of sums up to _REACH."""
    _, _, (multiplier, exponent) = tflite_scalings(op.a, op.b, op.y_quant, _LEFT_SHIFT)
    return Requant("tflite", op.y_quant.zero_point, op.low, op.high, (multiplier,), (exponent,))


def _term(dtype: DType, scaling: Scaling, place: int) -> TermContext:
    return TermContext(dtype.ctype, scaling == _HALF, place)


def _context(node: NodeOf[Add]) -> AddContext:
    op = node.op
    a, b, _ = tflite_scalings(op.a, op.b, op.y_quant, _LEFT_SHIFT) if op.mode == "tflite" else (_HALF,) * 3
    return AddContext(
        mode=op.formula,
        form=fast_requant(_output(op), _REACH).form if op.formula == "tflite" else "",
        sign="-" if op.sign < 0 and op.mode == "tflite" else "+",
        a=_term(node.ins[0].dtype, a, 0),
        b=_term(node.ins[1].dtype, b, 3),
        y_t=op.y_dtype.ctype,
        saturate=saturation(op.low, op.high),
        folded=op.formula == "tflite" and _folds(op, a, b),
        channels=channels(node.outs[0].shape),
        per_turn=_PER_TURN,
    )


def _folds(op: Add, a: Scaling, b: Scaling) -> bool:
    """Whether just one factor is one half, and its zero point, shifted as the other product, leaves 32 bits alone."""
    if (a == _HALF) == (b == _HALF):
        return False
    scaling, x, other = (a, op.a, b) if a == _HALF else (b, op.b, a)
    zero, (_, _, places) = _term_numbers(scaling, x.zero_point)[0], _term_numbers(other, 0)
    return places < 30 and abs(zero) << places < 1 << 30


def _params(op: Add) -> tuple[Field, ...]:
    bounds = range_field(op.y_quant.zero_point, op.low, op.high)
    if op.formula == "single":
        total = Field("sum", np.array(_folded(op), np.int32), about=_SUM)
        return (total,) if saturation(op.low, op.high) else (total, bounds)
    *terms, (multiplier, exponent) = tflite_scalings(op.a, op.b, op.y_quant, _LEFT_SHIFT)
    numbers = [n for scaling, x in zip(terms, (op.a, op.b), strict=True) for n in _term_numbers(scaling, x.zero_point)]
    return (Field("terms", np.array([*numbers, multiplier, -exponent - 1], np.int32)), bounds)


def _term_numbers(scaling: Scaling, zero_point: int) -> tuple[int, int, int]:
    """Zero point as the input is shifted, multiplier, right shift."""
    places = _LEFT_SHIFT - 1 if scaling == _HALF else _LEFT_SHIFT + 1
    multiplier, exponent = scaling
    return zero_point << places, multiplier, -exponent if multiplier else 1


BLOCKED_ADD = Kernel("blocked_add", "blocked/add.c.j2", "pixels", (Add,), _fit, without=OTHERS)
