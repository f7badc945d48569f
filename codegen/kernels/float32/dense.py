"""Dense layers and pointwise convolutions of real numbers, any run of pixels."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf
from codegen.ir.quant import Sums
from codegen.kernels.float32.common import (
    Bounds,
    bias_field,
    block_of,
    bound_fields,
    bounds_of,
    in_blocks,
    sum_header,
)
from codegen.kernels.float32.conv2d import is_pointwise
from codegen.kernels.float32.stored import Stored, stored_of
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops.float32 import FloatConv2D, FloatDense
from codegen.records import record


@record
class FloatDenseContext:
    """Sizes of one dense layer: n_in inputs, n_out outputs per pixel."""

    n_in: int
    n_out: int
    bounds: Bounds
    sums: Sums
    stored: Stored

    @property
    def block(self) -> int:
        """Outputs that are summed at one time."""
        return block_of(self.n_out)

    @property
    def blocked(self) -> int:
        """Outputs in whole blocks."""
        return self.n_out - self.rest

    @property
    def rest(self) -> int:
        """Outputs of the last, partial block."""
        return self.n_out % self.block

    @property
    def block_weights(self) -> int:
        """Elements of the weights of a block."""
        return self.stored.elements(self.block) * self.n_in


def _fit(node: NodeOf[FloatConv2D | FloatDense]) -> Fit | None:
    _, weights, bias = node.consts
    if node.dynamic != (0,) or weights is None or bias is None:
        return None
    if isinstance(node.op, FloatConv2D) and not is_pointwise(node.op):
        return None
    stored = stored_of(node)
    params = (bias_field(node.op, bias), *bound_fields(node.op), *stored.fields_of(weights, in_blocks))
    context = FloatDenseContext(node.ins[0].shape[-1], len(weights), bounds_of(node.op), node.op.sums, stored)
    return Fit(context, params, why=f"plain C99{stored.said}", headers=(sum_header(node.op), *stored.headers))


DENSE: Kernel[FloatConv2D | FloatDense] = Kernel(
    "dense_f32", "float32/dense.c.j2", "pixels", (FloatDense, FloatConv2D), _fit
)

KERNELS: tuple[Kernel[Any], ...] = (DENSE,)
