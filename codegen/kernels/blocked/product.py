"""Products of two tensors, and sums of tensors that are not alike: some elements per turn.

The second one is of the same shape, or has a number for each channel, for each pixel or for all, or for each row; it is
computed, or a constant, as the factors of normalizations are.  Factors have 8 bits, or 16 and no zero point: then no
product leaves 32 bits, nor what a zero point adds to it.  Sums are those of plane.py; of two computed tensors of one
shape add.py has them.  Elements are taken in the order in which they lie, for the output may lie over an input and
begin before it.  What is broadcast otherwise, or has no such numbers, is left to binary.py.
"""

from __future__ import annotations

from functools import partial

from codegen.ir.form import Field, Run
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.ir.shape import Shape, row_count, row_elements, row_pixels
from codegen.kernels.blocked.cores import OTHERS
from codegen.kernels.common import channels, constant_fields, range_field, zero_field
from codegen.kernels.fast import FastRequant, fast_fields, fast_headers, fast_requant, saturation
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.plane import plane_of
from codegen.kernels.sides import KNOWN, sides
from codegen.kernels.weighted import BYTES
from codegen.ops import Add, Mul
from codegen.records import record

_PER_TURN = 4
_ALIKE, _CHANNELS, _PIXELS, _ROWS = "like", "channels", "pixels", "rows"
_SAID = {
    _ALIKE: "of tensors alike",
    _CHANNELS: "by a number of each channel",
    _PIXELS: "by a number of each pixel",
    _ROWS: "by a number of each row",
}


@record
class Walk:
    """How both tensors are walked.

    `x` is read element by element, as the output is, `by` as `form` says; each has a C type and an expression, and `by`
    begins `row` elements further on in each row.
    `swapped`: `x` is the second operand.  A call makes `pixels` of `channels` elements, each of which has `step`
    numbers in `by`; `by_row` one that is a whole row.
    """

    form: str
    swapped: bool
    x_t: str
    x: str
    by_t: str
    by: str
    row: int
    step: int
    by_row: bool
    channels: int
    per_turn: int = _PER_TURN

    @property
    def pixels(self) -> str:
        """How many, in C."""
        return "1" if self.by_row else "n"

    @property
    def single(self) -> bool:
        """Whether all elements of a pixel meet one number."""
        return self.form in (_PIXELS, _ROWS)

    @property
    def rest(self) -> int:
        """Elements of a pixel that are left over of whole turns."""
        return self.channels % self.per_turn


@record
class ProductContext:
    """Literals of one product."""

    walk: Walk
    rq: FastRequant


@record
class SumContext:
    """Literals of one sum; `saturate` names the type whose bounds the output has, or is empty."""

    walk: Walk
    saturate: str


def _walk(node: NodeOf[Mul | Add], *, by_row: bool) -> Walk | None:
    """None where a tensor is broadcast otherwise, or is for calls of the other kind.

    Where a constant has several rows, or all of a row meet one number, calls are of one row.
    """
    y = node.outs[0].shape
    swapped = node.ins[0].shape != y or 0 not in node.dynamic
    at, other = (1, 0) if swapped else (0, 1)
    x, by = node.ins[at], node.ins[other]
    known = other not in node.dynamic
    form = _form(x.shape, by.shape, known=known) if x.shape == y and at in node.dynamic else ""
    one_row = form == _ROWS or (known and form == _ALIKE)
    if not form or one_row != by_row:
        return None
    its, beside = (sides(node, KNOWN)[i] for i in (at, other))
    row = row_elements(by.shape) if known and row_count(by.shape) > 1 else 0
    step, elements = int(form == _PIXELS and by.elements > 1), row_elements(y) if by_row else channels(y)
    return Walk(form, swapped, x.dtype.ctype, its, by.dtype.ctype, beside, row, step, by_row, elements)


def _form(x: Shape, by: Shape, *, known: bool) -> str:
    """How a tensor lies beside another one; empty where it does so in another way."""
    if x == by:
        return _ALIKE
    if row_count(by) == row_pixels(by) == 1 and channels(by) == channels(x) > 1:
        return _CHANNELS
    if channels(by) != 1:
        return ""
    if len(x) * (1,) == by or not by or (by[:-1] == x[:-1] and not known):
        return _PIXELS
    return _ROWS if known and row_pixels(by) == 1 and row_count(by) == row_count(x) and len(by) == len(x) else ""


def _fit_product(node: NodeOf[Mul], *, by_row: bool) -> Fit | None:
    op, walk = node.op, _walk(node, by_row=by_row)
    rq = fast_requant(op.requant, op.reach(node.ins))
    zeros = (op.a_zero_point, op.b_zero_point)
    fits = all(t.dtype in BYTES or (t.dtype is DType.S16 and not zero) for t, zero in zip(node.ins, zeros, strict=True))
    if walk is None or not rq.form or not fits:
        return None
    params = (*fast_fields(op.requant, op.reach(node.ins), 1), zero_field(*zeros), *constant_fields(node, KNOWN))
    return Fit(ProductContext(walk, rq), params, why=_why("products", walk), headers=rq.headers)


def _fit_sum(node: NodeOf[Add], *, by_row: bool) -> Fit | None:
    op, (a, b), y = node.op, node.ins, node.outs[0]
    walk = _walk(node, by_row=by_row) if all(t.dtype in BYTES for t in (a, b, y)) else None
    plane = plane_of(op, a.dtype, b.dtype) if walk else None
    if walk is None or plane is None:
        return None
    saturate = saturation(op.low, op.high)
    bounds: tuple[Field, ...] = () if saturate else (range_field(0, op.low, op.high),)
    params = (plane.field, *bounds, *constant_fields(node, KNOWN))
    headers = fast_headers(saturate) if saturate else ("lam_requant.h",)
    return Fit(SumContext(walk, saturate), params, why=_why("sums", walk), headers=headers)


def _why(what: str, walk: Walk) -> str:
    return f"{_PER_TURN} {what} per turn, {_SAID[walk.form]}"


def _products(name: str, run: Run) -> Kernel[Mul]:
    fit = partial(_fit_product, by_row=run == "row")
    return Kernel(name, "blocked/product.c.j2", run, (Mul,), fit, without=OTHERS)


def _sums(name: str, run: Run) -> Kernel[Add]:
    fit = partial(_fit_sum, by_row=run == "row")
    return Kernel(name, "blocked/sum.c.j2", run, (Add,), fit, without=OTHERS)


BLOCKED_PRODUCTS = (_products("blocked_product", "pixels"), _products("blocked_product_rows", "row"))
BLOCKED_SUMS = (_sums("blocked_sum", "pixels"), _sums("blocked_sum_rows", "row"))
