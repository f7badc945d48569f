"""Add, subtract, multiply and their kin: two operands, computed or constant, broadcast as numpy does.

Rows are broadcast by the operator's row rule, and for constants here; pixels and channels within a row by the loops.  A
run of pixels is one loop where both operands lie as the output does; otherwise, and wherever a pixel's place in its row
matters, one row is made per call.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Shape, row_count, row_elements, row_pixels
from codegen.kernels.common import (
    RequantContext,
    channels,
    range_field,
    requant_context,
    requant_fields,
    requant_takes,
)
from codegen.kernels.kernel import adapted
from codegen.ops import Add, Compare, Div, Extremum, Mul, PRelu, SquaredDifference, WholeArithmetic
from codegen.ops.add import is_wide, left_shift, shared_shift, tflite_scalings
from codegen.ops.compare import LEFT as COMPARED_LEFT
from codegen.ops.prelu import prelu_scalings
from codegen.ops.squared_difference import left_shift as square_shift
from codegen.ops.squared_difference import squared_scalings

Binary = Add | Mul | Div | Extremum | Compare | SquaredDifference | PRelu | WholeArithmetic

_CALLED = {"/": "lam_quotient", "//": "lam_floor_quotient", "%": "lam_floor_remainder"}
"""Functions of lam_whole.h."""


@dataclass(frozen=True, slots=True)
class OperandContext:
    """How one operand is walked: elements per pixel and per channel; `slot` of `rows`, or -1 and elements per row."""

    t: str
    slot: int
    row: int
    pixel: int
    channel: int


@dataclass(frozen=True, slots=True)
class BinaryContext:
    """Literals of one elementwise operator.  `count` and `pixels` are C expressions, of n for a run of pixels.

    `left` is the factor by which inputs grow before they are scaled; a `wide` sum or product has 64 bits.
    """

    op: str
    sign: str
    rq: RequantContext
    a: OperandContext
    b: OperandContext
    pixels: str
    channels: int
    count: str
    left: int = 0
    wide: bool = False

    @property
    def numberless(self) -> bool:
        """Whether there are no numbers from training."""
        return self.op in ("max", "min", "compare", "wrapped", "called")

    @property
    def flat(self) -> bool:
        """Whether one loop over all elements does: each operand is as long as the output, or a single number."""
        whole = (self.channels, 1)
        return all((o.pixel, o.channel) in (whole, (0, 0)) for o in (self.a, self.b))


def _accepts(node: NodeView) -> bool:
    op = node.op
    if not node.dynamic:
        return False
    if isinstance(op, Mul):
        reach = op.reach(node.ins)
        return requant_takes(op.requant, -reach, reach, wide=True)
    return isinstance(op, Binary)


def _accepts_pixels(node: NodeView, isa: str) -> bool:
    return _accepts(node) and _same_for_all_pixels(node)


def _accepts_rows(node: NodeView, isa: str) -> bool:
    return _accepts(node)


def _same_for_all_pixels(node: NodeView) -> bool:
    """Whether a run of pixels may cross rows: no operand is repeated along its rows or differs between them."""
    out = node.outs[0].shape
    for index, kind in enumerate(node.ins):
        one_row = row_count(kind.shape) == 1
        if index in node.dynamic:
            fits = one_row or row_pixels(kind.shape) == row_pixels(out)
        else:
            fits = one_row and (row_pixels(kind.shape) == 1 or row_count(out) == 1)
        if not fits:
            return False
    return True


def _context(node: NodeView, *, by_pixels: bool) -> BinaryContext:
    op = node.op
    assert isinstance(op, Binary)
    out = node.outs[0].shape
    wide, deep = row_pixels(out), channels(out)
    return BinaryContext(
        op=_name(op),
        sign=_sign(op),
        rq=requant_context(op.requant, wide=_is_wide(node)) if isinstance(op, Mul) else _plain_requant(op),
        a=_operand(node, 0),
        b=_operand(node, 1),
        pixels="n" if by_pixels else str(wide),
        channels=deep,
        count=f"n * {deep}" if by_pixels else str(wide * deep),
        left=_left(op),
        wide=_is_wide(node),
    )


def _is_wide(node: NodeView) -> bool:
    """Whether the sum of mode `single`, or a product, has 64 bits."""
    if isinstance(node.op, Mul):
        return node.op.reach(node.ins) >= 1 << 31
    return isinstance(node.op, Add) and node.op.mode == "single" and is_wide(node.op, node.ins)


def _name(op: Binary) -> str:
    if isinstance(op, Extremum):
        return "max" if op.largest else "min"
    if isinstance(op, Compare):
        return "compare_scaled" if op.scalings() else "compare"
    if isinstance(op, WholeArithmetic):
        return "called" if op.operation in _CALLED else "wrapped"
    return {Add: "add", Mul: "mul", Div: "div", SquaredDifference: "square", PRelu: "prelu"}[type(op)]


def _sign(op: Binary) -> str:
    if isinstance(op, Compare):
        return op.relation
    if isinstance(op, WholeArithmetic):
        return _CALLED.get(op.operation, op.operation)
    return "-" if isinstance(op, Add) and op.sign < 0 and op.mode != "single" else "+"


def _plain_requant(op: Binary) -> RequantContext:
    """Of an operator that carries no Requant of its own."""
    return RequantContext(op.mode if isinstance(op, Add) else "tflite", False, False)


def _left(op: Binary) -> int:
    if isinstance(op, Add):
        return 1 << left_shift(op.y_dtype)
    if isinstance(op, Compare):
        return 1 << COMPARED_LEFT
    return 1 << square_shift(op.y_dtype) if isinstance(op, SquaredDifference) else 0


def _operand(node: NodeView, index: int) -> OperandContext:
    kind, out = node.ins[index], node.outs[0].shape
    constant = index not in node.dynamic
    wide, deep = row_pixels(kind.shape), channels(kind.shape)
    repeated = wide != row_pixels(out) or (constant and wide == 1)
    pixel = 0 if repeated else deep
    return OperandContext(
        t=kind.dtype.ctype,
        slot=-1 if constant else node.dynamic.index(index),
        row=row_elements(kind.shape) if constant and row_count(kind.shape) > 1 else 0,
        pixel=pixel,
        channel=1 if deep == channels(out) and (deep > 1 or pixel) else 0,
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Binary)
    numbers = _wide_fields(op) if isinstance(op, Add) and _is_wide(node) else _fields(op)
    out = node.outs[0].shape
    constants = tuple(
        Field(f"{name}_const", _rows_of(data, out).reshape(-1))
        for name, data in zip("ab", node.consts, strict=True)
        if data is not None
    )
    return (*numbers, *constants)


def _rows_of(data: Array, out: Shape) -> Array:
    """A constant repeated to the output's rows, unless all rows read the same one."""
    if row_count(data.shape) == 1:
        return data
    return np.broadcast_to(data, (*out[:-2], *data.shape[-2:]))


def _fields(op: Binary) -> tuple[Field, ...]:
    if isinstance(op, Mul):
        return _mul_fields(op)
    if isinstance(op, Add):
        return add_fields(op)
    if isinstance(op, SquaredDifference):
        bounds = range_field(op.y_quant.zero_point, op.low, op.high)
        return (_scaling_field(squared_scalings(op)), _zero_field(op.a.zero_point, op.b.zero_point), bounds)
    if isinstance(op, Div):
        bounds = range_field(op.y_quant.zero_point, op.low, op.high)
        return (_scaling_field((op.scaling(),)), _zero_field(op.a.zero_point, op.b.zero_point), bounds)
    if isinstance(op, Compare):
        return _compare_fields(op)
    if isinstance(op, PRelu):
        bounds = range_field(op.y_quant.zero_point, op.y_dtype.low, op.y_dtype.high)
        return (_scaling_field(prelu_scalings(op)), _zero_field(op.x.zero_point, op.slope.zero_point), bounds)
    return ()


def _compare_fields(op: Compare) -> tuple[Field, ...]:
    if op.a is None or op.b is None:
        return ()
    return (_scaling_field(op.scalings()), _zero_field(op.a.zero_point, op.b.zero_point))


def _scaling_field(scalings: tuple[tuple[int, int], ...]) -> Field:
    """Multiplier and exponent, one pair after the other."""
    return Field("scaling", np.array(scalings, np.int32).reshape(-1))


def _zero_field(a: int, b: int) -> Field:
    return Field("zero", np.array([a, b], np.int32))


def _mul_fields(op: Mul) -> tuple[Field, ...]:
    return (*requant_fields(op.requant), _zero_field(op.a_zero_point, op.b_zero_point))


def add_fields(op: Add) -> tuple[Field, ...]:
    """Params of a sum: `sum`, `scaling` or `scale`, by mode, then `zero` and `range`."""
    bounds = range_field(op.y_quant.zero_point, op.low, op.high)
    zeros = _zero_field(op.a.zero_point, op.b.zero_point)
    if op.mode == "single":
        ma, mb, shift = shared_shift(op.a, op.b, op.y_quant)
        mb *= op.sign
        offset = (1 << (shift - 1)) - ma * op.a.zero_point - mb * op.b.zero_point
        return (Field("sum", np.array([ma, mb, offset, shift], np.int32)), bounds)
    if op.mode == "tflite":
        scalings = tflite_scalings(op.a, op.b, op.y_quant, left_shift(op.y_dtype))
        return (_scaling_field(scalings), zeros, bounds)
    scales = np.array([op.a.scale, op.b.scale, op.y_quant.scale], np.float32)
    return (Field("scale", scales), zeros, bounds)


def _wide_fields(op: Add) -> tuple[Field, ...]:
    """Params of a sum of 64 bits: `factor` = [Ma, Mb with its sign, s], `zero` and `range`."""
    ma, mb, shift = op.single_steps((DType.S16,))
    bounds = range_field(op.y_quant.zero_point, op.low, op.high)
    factors = Field("factor", np.array([ma, mb * op.sign, shift], np.int32))
    return (factors, _zero_field(op.a.zero_point, op.b.zero_point), bounds)


PIXELS = adapted(
    "binary", "binary.c.j2", "pixels", _accepts_pixels, lambda node: _context(node, by_pixels=True), _params
)
ROWS = adapted(
    "binary_rows", "binary.c.j2", "row", _accepts_rows, lambda node: _context(node, by_pixels=False), _params
)
