"""Sums of many: several tensors of one scale, and the elements so far along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.shape import Shape
from codegen.kernels.common import channels, constant_fields, range_field, sides
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sizes import AlongSizes
from codegen.ops import AddN, CumulativeSum, ScaledSum
from codegen.ops.add_n import LEFT
from codegen.records import record


@record
class AddNContext:
    """Expressions of the computed inputs and of the constants, and how many elements each has."""

    rows: tuple[str, ...]
    constants: tuple[str, ...]
    count: int
    left: int


@record
class ScaledSumContext:
    """C types and expressions of the inputs, and how many elements each has: of n pixels where `by_pixels`.

    A `wide` sum has 64 bits.
    """

    sides: tuple[tuple[str, str], ...]
    count: str
    by_pixels: bool
    wide: bool


@record(kw_only=True)
class CumulativeContext(AlongSizes):
    """Sizes of one running sum."""

    left: int


def along_sizes(shape: Shape, axis: int, *, exclusive: bool, reverse: bool) -> dict[str, Any]:
    """The fields of AlongSizes, by name, for an axis of a tensor."""
    return {
        "outer": math.prod(shape[:axis]),
        "depth": shape[axis],
        "inner": math.prod(shape[axis + 1 :]),
        "exclusive": exclusive,
        "reverse": reverse,
    }


def _fit_add_n(node: NodeOf[AddN]) -> Fit | None:
    if not node.dynamic:
        return None
    op, constants = node.op, constant_fields(node, [f"known{i}" for i in range(len(node.ins))])
    rows = tuple(f"rows[{place}]" for place in range(len(node.dynamic)))
    context = AddNContext(rows, tuple(field.name for field in constants), node.outs[0].elements, 1 << LEFT)
    total = Field("sum", np.array([op.offset(len(node.ins)), *op.scaling()], np.int32))
    return Fit(context, (total, range_field(op.y_quant.zero_point, op.low, op.high), *constants))


def _fit_scaled_pixels(node: NodeOf[ScaledSum]) -> Fit | None:
    """A run of pixels: no constant has a place in it."""
    return _fit_scaled(node, by_pixels=True) if len(node.dynamic) == len(node.ins) else None


def _fit_scaled(node: NodeOf[ScaledSum], *, by_pixels: bool = False) -> Fit | None:
    if not node.dynamic:
        return None
    op, out = node.op, node.outs[0]
    wide, names = op.is_wide([x.dtype for x in node.ins]), [f"known{i}" for i in range(len(node.ins))]
    count = f"n * {channels(out.shape)}" if by_pixels else str(out.elements)
    context = ScaledSumContext(sides(node, names), count, by_pixels, wide)
    bounds = range_field(op.y_quant.zero_point, op.low, op.high)
    return Fit(context, (*_scaled_fields(op, wide=wide), bounds, *constant_fields(node, names)))


def _scaled_fields(op: ScaledSum, *, wide: bool) -> tuple[Field, ...]:
    factors, shift = op.steps(is_wide=wide)
    factor = Field("factor", np.array(factors, np.int32), about="of each input")
    if wide:
        zeros = Field("zero", np.array([x.zero_point for x in op.xs], np.int32), about="zero points of the inputs")
        return (factor, zeros, Field("shift", np.array([shift], np.int32)))
    offset = (1 << (shift - 1)) - sum(m * x.zero_point for m, x in zip(factors, op.xs, strict=True))
    about = "offset, places: y = ((sum of factor * x + offset) >> places) + zero point, then limited"
    return (factor, Field("sum", np.array([offset, shift], np.int32), about=about))


def _fit_cumulative(node: NodeOf[CumulativeSum]) -> Fit:
    op, shape = node.op, node.ins[0].shape
    along = along_sizes(shape, op.axis, exclusive=op.exclusive, reverse=op.reverse)
    total = Field("sum", np.array([op.x.zero_point, *op.scaling()], np.int32))
    return Fit(CumulativeContext(**along, left=1 << LEFT), (total, range_field(op.y_quant.zero_point, op.low, op.high)))


ADD_N = Kernel("add_n", "add_n.c.j2", "whole", (AddN,), _fit_add_n, headers=("lam_requant.h",))
SCALED_PIXELS = Kernel(
    "scaled_sum", "scaled_sum.c.j2", "pixels", (ScaledSum,), _fit_scaled_pixels, headers=("lam_requant.h",)
)
SCALED_WHOLE = Kernel(
    "scaled_sum_whole", "scaled_sum.c.j2", "whole", (ScaledSum,), _fit_scaled, headers=("lam_requant.h",)
)
CUMULATIVE = Kernel(
    "cumulative_sum",
    "cumulative_sum.c.j2",
    "whole",
    (CumulativeSum,),
    _fit_cumulative,
    one_input=True,
    headers=("lam_requant.h", "lam_wrap.h"),
)

KERNELS: tuple[Kernel[Any], ...] = (ADD_N, SCALED_PIXELS, SCALED_WHOLE, CUMULATIVE)
