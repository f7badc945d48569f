"""Sums, differences and products of two tensors of bytes, sixteen elements at a time.

They are computed and lie alike, or one is a pixel, computed or a constant, that all pixels of the other meet.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.quant import DType
from codegen.kernels.common import constant_fields, range_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.lanes.common import Processor, factor_fields, mode_name, takes_factors
from codegen.kernels.plane import plane_of
from codegen.kernels.sides import KNOWN, pixel_steps, sides
from codegen.kernels.weighted import BYTES
from codegen.ops import Add, Mul
from codegen.records import record

_LARGEST_PRODUCT = 255 * 255


@record
class LanesBinaryContext:
    """Literals: the operator, a product's mode, the types, elements of a pixel; of each input those to the next one.

    `tensors`: where each input is.
    """

    op: str
    mode: str
    saturates: bool
    a_signed: bool
    b_signed: bool
    type: str
    channels: int
    steps: tuple[int, ...]
    tensors: tuple[str, ...]


def _fit(on: Processor, node: NodeOf[Add | Mul]) -> Fit | None:
    op, y = node.op, node.outs[0]
    steps = pixel_steps(node)
    if steps is None or any(kind.dtype not in BYTES for kind in (*node.ins, y)):
        return None
    params = _sum_params(node, op) if isinstance(op, Add) else _product_params(op, y.dtype)
    known = constant_fields(node, KNOWN)
    return Fit(_context(node, steps), (*params, *known), why=f"{on.name}: 16 elements at a time") if params else None


def _sum_params(node: NodeView, op: Add) -> tuple[Field, ...]:
    """Of a sum; none where there are no numbers."""
    plane = plane_of(op, node.ins[0].dtype, node.ins[1].dtype)
    return (plane.field, range_field(0, op.low, op.high)) if plane else ()


def _product_params(op: Mul, y: DType) -> tuple[Field, ...]:
    """Of a product; none where its factors do not fit."""
    if not takes_factors(op.requant, y, _LARGEST_PRODUCT):
        return ()
    zeros = np.array([op.a_zero_point, op.b_zero_point], np.int32)
    return (*factor_fields(op.requant, _LARGEST_PRODUCT), Field("zero", zeros))


def _context(node: NodeOf[Add | Mul], steps: tuple[int, ...]) -> LanesBinaryContext:
    op, y = node.op, node.outs[0]
    limits = op if isinstance(op, Add) else op.requant
    return LanesBinaryContext(
        op="sum" if isinstance(op, Add) else "product",
        mode="" if isinstance(op, Add) else mode_name(op.requant, _LARGEST_PRODUCT),
        saturates=(limits.low, limits.high) == (y.dtype.low, y.dtype.high),
        a_signed=node.ins[0].dtype is DType.S8,
        b_signed=node.ins[1].dtype is DType.S8,
        type=y.dtype.name,
        channels=y.shape[-1] if y.shape else 1,
        steps=steps,
        tensors=tuple(sides(node, KNOWN)),
    )


def binary_kernel(on: Processor) -> Kernel[Add | Mul]:
    """The kernel for a processor."""
    name, fit, headers = f"{on.name}_binary", partial(_fit, on), ("lam_lanes_binary.h",)
    return Kernel(name, "lanes/binary.c.j2", "pixels", (Add, Mul), fit, on.needs, headers=headers)
