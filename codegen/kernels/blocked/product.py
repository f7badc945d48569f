"""Products of two computed tensors: of one shape, or one of them a factor for each channel, or for each pixel.

They have 8 bits, or 16 and no zero point: then no product leaves 32 bits, nor what a zero point adds to it.  Elements
are taken in the order in which they lie, for the output may lie over an input and begin before it.  What is broadcast
otherwise, or has no requantization by one high product, is left to binary.py.
"""

from __future__ import annotations

from codegen.ir.op import NodeOf
from codegen.ir.quant import DType, TensorType
from codegen.ir.shape import Shape, row_count, row_pixels
from codegen.kernels.blocked.cores import OTHERS
from codegen.kernels.common import channels, zero_field
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import BYTES
from codegen.ops import Mul
from codegen.records import record

_PER_TURN = 4
_FORMS = {"like": "of tensors alike", "channels": "by a factor of each channel", "pixels": "by a factor of each pixel"}


@record
class ProductContext:
    """Literals of one product: how the factor lies, slot and type of both inputs, the requantization, the shape.

    `step`: elements of the factor per pixel, where each pixel has one.
    """

    form: str
    x_slot: int
    x_t: str
    by_slot: int
    by_t: str
    step: int
    rq: FastRequant
    channels: int
    per_turn: int

    @property
    def rest(self) -> int:
        """Elements of a pixel that are left over of whole turns."""
        return self.channels % self.per_turn


def _fit(node: NodeOf[Mul]) -> Fit | None:
    op, y, swapped = node.op, node.outs[0], node.ins[0].shape != node.outs[0].shape
    x, by = reversed(node.ins) if swapped else node.ins
    form = _form(x.shape, by.shape) if x.shape == y.shape else ""
    rq = fast_requant(op.requant, op.reach(node.ins))
    zeros = (op.b_zero_point, op.a_zero_point) if swapped else (op.a_zero_point, op.b_zero_point)
    fits = all(t.dtype in BYTES or (t.dtype is DType.S16 and not zero) for t, zero in zip((x, by), zeros, strict=True))
    if not form or not rq.form or node.dynamic != (0, 1) or not fits:
        return None
    params = (*fast_fields(op.requant, op.reach(node.ins), 1), zero_field(*zeros))
    why = f"{_PER_TURN} products per turn, {_FORMS[form]}"
    return Fit(_context(form, x, by, int(swapped), rq), params, why=why, headers=rq.headers)


def _form(x: Shape, by: Shape) -> str:
    """How a factor lies beside what it multiplies; empty where it does so in another way."""
    if x == by:
        return "like"
    if row_count(by) == row_pixels(by) == 1 and channels(by) == channels(x) > 1:
        return "channels"
    return "pixels" if channels(by) == 1 and (by[:-1] == x[:-1] or len(x) * (1,) == by or not by) else ""


def _context(form: str, x: TensorType, by: TensorType, x_slot: int, rq: FastRequant) -> ProductContext:
    return ProductContext(
        form=form,
        x_slot=x_slot,
        x_t=x.dtype.ctype,
        by_slot=1 - x_slot,
        by_t=by.dtype.ctype,
        step=0 if by.elements == 1 else 1,
        rq=rq,
        channels=channels(x.shape),
        per_turn=_PER_TURN,
    )


BLOCKED_PRODUCT = Kernel("blocked_product", "blocked/product.c.j2", "pixels", (Mul,), _fit, without=OTHERS)
