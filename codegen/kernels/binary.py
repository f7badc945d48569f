"""Add, subtract, multiply and their kin: two operands, computed or constant, broadcast as numpy does.

Rows are broadcast by the operator's row rule, and for constants here; pixels and channels within a row by the loops.  A
run of pixels is one loop where both operands lie as the output does; otherwise, and wherever a pixel's place in its row
matters, one row is made per call.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Shape, row_count, row_elements, row_pixels
from codegen.kernels.common import (
    RequantContext,
    channels,
    range_field,
    requant_context,
    requant_fields,
    requant_takes,
    zero_field,
)
from codegen.kernels.float32.common import HEADER, UNBOUNDED, Bounds, bound_fields, bounds_of
from codegen.kernels.float32.functions import function_headers
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.plane import Plane, plane_of
from codegen.kernels.weighted import BYTES
from codegen.ops import Add, Compare, Div, Extremum, Mul, PRelu, Remainder, SquaredDifference, WholeArithmetic
from codegen.ops.add import is_wide, left_shift, tflite_scalings
from codegen.ops.compare import LEFT as COMPARED_LEFT
from codegen.ops.float32 import FloatBinary
from codegen.ops.prelu import prelu_scalings
from codegen.ops.squared_difference import left_shift as square_shift
from codegen.ops.squared_difference import squared_scalings
from codegen.records import record

Binary = Add | Mul | Div | Extremum | Compare | SquaredDifference | PRelu | WholeArithmetic | Remainder | FloatBinary

_HEADERS = {
    "div": ("lam_fixed.h", "lam_requant.h"),
    "called": ("lam_whole.h",),
    "compare_exact": ("lam_rounded.h",),
    "remainder": ("lam_remainder.h",),
    "wrapped": ("lam_wrap.h",),
}
"""Of operators whose functions are not those of a requantization."""
_NAMES: dict[type, str] = {
    **{Add: "add", Mul: "mul", Div: "div"},
    **{SquaredDifference: "square", PRelu: "prelu", Remainder: "remainder"},
}
"""Of operators that have but one name."""
_CALLED = {
    "/": "lam_quotient",
    "//": "lam_floor_quotient",
    "%": "lam_floor_remainder",
    "fmod": "lam_remainder",
    "power": "lam_power",
    "root": "lam_root",
    "log": "lam_log",
    "<<": "lam_shift_left",
    ">>": "lam_shift_down",
    ">>>": "lam_shift_right",
}
"""Functions of lam_whole.h, and of lam_whole_log.h, which needs more of the runtime."""
_SIGNS = {"add": "+", "div": "/", "mul": "*", "sub": "-"}
"""Operations on float32 that C has; of others the runtime has a function."""


@record
class OperandContext:
    """How one operand is walked: elements per pixel and per channel; `slot` of `rows`, or -1 and elements per row."""

    t: str
    slot: int
    row: int
    pixel: int
    channel: int


@record
class BinaryContext:
    """Literals of one elementwise operator.  `pixels` is a C expression, `n` for a run of pixels.

    `count`: elements of a call for a row; 0 in a run of pixels.  `left` is the factor by which inputs grow before they
    are scaled; a `wide` sum or product has 64 bits.
    """

    op: str
    sign: str
    rq: RequantContext
    a: OperandContext
    b: OperandContext
    pixels: str
    channels: int
    count: int
    left: int = 0
    wide: bool = False
    bounds: Bounds = UNBOUNDED

    @property
    def numberless(self) -> bool:
        """Whether there are no numbers from training."""
        return self.op in ("max", "min", "compare", "wrapped", "called", "plain")

    @property
    def flat(self) -> bool:
        """Whether one loop over all elements does: each operand is as long as the output, or a single number."""
        whole = (self.channels, 1)
        return all((o.pixel, o.channel) in (whole, (0, 0)) for o in (self.a, self.b))


def _fit_pixels(node: NodeOf[Binary]) -> Fit | None:
    return _fit(node, by_pixels=True) if _same_for_all_pixels(node) else None


def _fit_rows(node: NodeOf[Binary]) -> Fit | None:
    return _fit(node, by_pixels=False)


def _fit(node: NodeOf[Binary], *, by_pixels: bool) -> Fit | None:
    op = node.op
    if not node.dynamic:
        return None
    if isinstance(op, Mul) and not requant_takes(op.requant, -op.reach(node.ins), op.reach(node.ins), wide=True):
        return None
    context = _context(node, by_pixels=by_pixels)
    return Fit(context, _params(node), headers=_headers(op, context))


def _same_for_all_pixels(node: NodeOf[Binary]) -> bool:
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


def _context(node: NodeOf[Binary], *, by_pixels: bool) -> BinaryContext:
    op, out = node.op, node.outs[0].shape
    wide, deep = row_pixels(out), channels(out)
    return BinaryContext(
        op=_name(op),
        sign=_sign(op),
        rq=requant_context(op.requant, wide=_is_wide(node)) if isinstance(op, Mul) else _plain_requant(op, node),
        a=_operand(node, 0),
        b=_operand(node, 1),
        pixels="n" if by_pixels else str(wide),
        channels=deep,
        count=0 if by_pixels else wide * deep,
        left=_left(op),
        wide=_is_wide(node),
        bounds=bounds_of(op) if isinstance(op, FloatBinary) else UNBOUNDED,
    )


def _headers(op: Binary, k: BinaryContext) -> tuple[str, ...]:
    if isinstance(op, FloatBinary):
        return (HEADER,) if k.op == "plain" else function_headers(op.name)
    if isinstance(op, WholeArithmetic) and op.operation == "log":
        return ("lam_whole_log.h",)
    if k.op == "add" and k.rq.mode == "ort":
        return ("lam_linear.h",)
    return _HEADERS.get(k.op, () if k.numberless else k.rq.headers)


def _is_wide(node: NodeOf[Binary]) -> bool:
    """Whether the sum of mode `single`, or a product, has 64 bits."""
    if isinstance(node.op, Mul):
        return node.op.reach(node.ins) >= 1 << 31
    return isinstance(node.op, Add) and node.op.formula == "single" and is_wide(node.op, node.ins)


def _name(op: Binary) -> str:
    if isinstance(op, Extremum):
        return "max" if op.largest else "min"
    if isinstance(op, Compare):
        return "compare_exact" if op.exact else "compare_scaled" if op.scalings() else "compare"
    if isinstance(op, WholeArithmetic):
        return "called" if op.operation in _CALLED else "wrapped"
    if isinstance(op, FloatBinary):
        return "plain" if op.name in _SIGNS else "called"
    return _NAMES[type(op)]


def _sign(op: Binary) -> str:
    if isinstance(op, Compare):
        return op.relation
    if isinstance(op, WholeArithmetic):
        return _CALLED.get(op.operation, op.operation)
    if isinstance(op, FloatBinary):
        return _SIGNS.get(op.name, f"lam_f32_{op.name}")
    return "-" if isinstance(op, Add) and op.sign < 0 and op.formula != "single" else "+"


def _plain_requant(op: Binary, node: NodeView) -> RequantContext:
    """Of an operator that carries no Requant of its own."""
    if isinstance(op, Add) and _plane(op, node):
        return RequantContext("single", False, False)
    if isinstance(op, Add):
        return RequantContext(op.formula, False, False, rounding=op.rounding)
    return RequantContext("tflite", False, False)


def _left(op: Binary) -> int:
    if isinstance(op, Add):
        return 1 << left_shift(op.y_dtype)
    if isinstance(op, Compare):
        return 1 << COMPARED_LEFT
    return 1 << square_shift(op.y_dtype) if isinstance(op, SquaredDifference) else 0


def _operand(node: NodeOf[Binary], index: int) -> OperandContext:
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


def _params(node: NodeOf[Binary]) -> tuple[Field, ...]:
    op = node.op
    numbers = _add_fields(op, node) if isinstance(op, Add) else _fields(op)
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
    if isinstance(op, FloatBinary):
        return bound_fields(op)
    if isinstance(op, Mul):
        return _mul_fields(op)
    if isinstance(op, SquaredDifference):
        bounds = range_field(op.y_quant.zero_point, op.low, op.high)
        return (_scaling_field(squared_scalings(op)), zero_field(op.a.zero_point, op.b.zero_point), bounds)
    if isinstance(op, Div):
        bounds = range_field(op.y_quant.zero_point, op.low, op.high)
        return (_scaling_field((op.scaling(),)), zero_field(op.a.zero_point, op.b.zero_point), bounds)
    if isinstance(op, Compare):
        return _compare_fields(op)
    if isinstance(op, Remainder):
        (ma, da), (mb, db) = op.factors()
        numbers = np.array([ma, da, mb, db, op.down], np.int32)
        about = "factor and bits to the left of each input, then bits to the right"
        return (Field("scaling", numbers, about=about), zero_field(op.a.zero_point, op.b.zero_point))
    if isinstance(op, PRelu):
        bounds = range_field(op.y_quant.zero_point, op.y_dtype.low, op.y_dtype.high)
        return (_scaling_field(prelu_scalings(op)), zero_field(op.x.zero_point, op.slope.zero_point), bounds)
    return ()


def _compare_fields(op: Compare) -> tuple[Field, ...]:
    if op.a is None or op.b is None:
        return ()
    return (_scaling_field(op.scalings()), zero_field(op.a.zero_point, op.b.zero_point))


def _scaling_field(scalings: tuple[tuple[int, int], ...]) -> Field:
    """Multiplier and exponent, one pair after the other."""
    return Field("scaling", np.array(scalings, np.int32).reshape(-1), about="multiplier, exponent; step by step")


def _mul_fields(op: Mul) -> tuple[Field, ...]:
    return (*requant_fields(op.requant), zero_field(op.a_zero_point, op.b_zero_point))


_SUM = "ma, mb, offset, places: y = ((ma * a + mb * b + offset) >> places) + zero point, then limited"


def _plane(op: Add, node: NodeView) -> Plane | None:
    """The numbers of plane.py, of a sum in 8 bits."""
    kinds = (*node.ins, *node.outs)
    return plane_of(op, node.ins[0].dtype, node.ins[1].dtype) if all(t.dtype in BYTES for t in kinds) else None


def _add_fields(op: Add, node: NodeView) -> tuple[Field, ...]:
    """Params of a sum: `sum`, `scaling` or `scale`, by mode, then `zero` and `range`; `factor` of one with 64 bits."""
    plane = _plane(op, node)
    if plane:
        return (plane.field, range_field(0, op.low, op.high))
    if op.formula == "single" and is_wide(op, node.ins):
        return _wide_fields(op)
    bounds = range_field(op.y_quant.zero_point, op.low, op.high)
    zeros = zero_field(op.a.zero_point, op.b.zero_point)
    if op.formula == "single":
        ma, mb, shift = op.single_steps()
        mb *= op.sign
        half = 1 << (shift - 1) if op.rounding == "half_up" else 0
        offset = half - ma * op.a.zero_point - mb * op.b.zero_point
        return (Field("sum", np.array([ma, mb, offset, shift], np.int32), about=_SUM), bounds)
    if op.mode == "tflite":
        scalings = tflite_scalings(op.a, op.b, op.y_quant, left_shift(op.y_dtype))
        return (_scaling_field(scalings), zeros, bounds)
    scales = np.array([op.a.scale, op.b.scale, op.y_quant.scale], np.float32)
    return (Field("scale", scales, about="of the inputs, then of the output"), zeros, bounds)


def _wide_fields(op: Add) -> tuple[Field, ...]:
    """Params of a sum of 64 bits: `factor` = [Ma, Mb with its sign, s], `zero` and `range`."""
    ma, mb, shift = op.single_steps((DType.S16,))
    bounds = range_field(op.y_quant.zero_point, op.low, op.high)
    factors = Field("factor", np.array([ma, mb * op.sign, shift], np.int32), about="of each input, then a right shift")
    return (factors, zero_field(op.a.zero_point, op.b.zero_point), bounds)


_OPS: tuple[type[Binary], ...] = get_args(Binary)
PIXELS: Kernel[Binary] = Kernel("binary", "binary.c.j2", "pixels", _OPS, _fit_pixels, program_memory=True)
ROWS: Kernel[Binary] = Kernel("binary_rows", "binary.c.j2", "row", _OPS, _fit_rows, program_memory=True)

KERNELS: tuple[Kernel[Any], ...] = (PIXELS, ROWS)
