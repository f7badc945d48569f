"""Convolution of real numbers, one output row per call: of any kind, and with one filter per channel."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, Sums
from codegen.kernels.conv2d import inner_columns
from codegen.kernels.float32.common import (
    Bounds,
    bias_field,
    block_of,
    bound_fields,
    bounds_of,
    in_blocks,
    sum_header,
)
from codegen.kernels.float32.stored import Runs, Stored, stored_of
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sizes import GroupSizes, InBlocks
from codegen.ops.float32 import FloatConv2D
from codegen.records import record


@record(kw_only=True)
class FloatConvContext(InBlocks, GroupSizes):
    """Sizes of one convolution.  `padded_rows`: some window reaches over the first or the last row."""

    w_in: int
    w_out: int
    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int
    padded_rows: bool
    padded_columns: bool
    bounds: Bounds
    sums: Sums
    stored: Stored

    @property
    def parted(self) -> tuple[int, int]:
        """Outputs of a group."""
        return self.o_group, block_of(self.o_group)

    @property
    def tap(self) -> int:
        """Elements from the inputs of one tap of a kernel row to those of the next."""
        return self.dilation * self.c_in

    def tap_weights(self, outputs: int) -> int:
        """Elements of the weights of so many outputs for one place of the kernel."""
        return self.c_group * self.stored.elements(outputs)

    def row_weights(self, outputs: int) -> int:
        """Those of a kernel row."""
        return self.kernel_w * self.tap_weights(outputs)

    def weights_of(self, outputs: int) -> int:
        """Those of the whole kernel."""
        return self.kernel_h * self.row_weights(outputs)


@record(kw_only=True)
class FloatDepthwiseContext(FloatConvContext):
    """The same where each channel has one filter of its own: blocks are of channels."""

    @property
    def parted(self) -> tuple[int, int]:
        """All channels."""
        return self.c_in, block_of(self.c_in)


def is_pointwise(op: FloatConv2D) -> bool:
    """Whether each output pixel is made of the input pixel at its own place."""
    return op.groups == 1 and all(w.size == w.stride == 1 and w.pad_before == w.pad_after == 0 for w in (op.h, op.w))


def _context(kind: type[FloatConvContext], node: NodeOf[FloatConv2D]) -> FloatConvContext:
    op, x, y = node.op, node.ins[0].shape, node.outs[0].shape
    return kind(
        w_in=x[2],
        c_in=x[3],
        w_out=y[2],
        c_out=y[3],
        groups=op.groups,
        kernel_h=op.h.size,
        kernel_w=op.w.size,
        stride=op.w.stride,
        dilation=op.w.dilation,
        pad=op.w.pad_before,
        padded_rows=op.rows(0, node.ins, node.outs).leaves(x[1], y[1]),
        padded_columns=inner_columns(op.w, x[2], y[2]) != (0, y[2]),
        bounds=bounds_of(op),
        sums=op.sums,
        stored=stored_of(node),
    )


def _fit(node: NodeOf[FloatConv2D]) -> Fit | None:
    _, weights, bias = node.consts
    if node.dynamic != (0,) or weights is None or bias is None or node.ins[1].block:
        return None
    return _fitted(FloatConvContext, node, bias, weights, lambda w: in_blocks(w, node.op.groups))


def _fit_depthwise(node: NodeOf[FloatConv2D]) -> Fit | None:
    _, weights, bias = node.consts
    one_each = node.op.groups == node.ins[0].shape[3] == node.outs[0].shape[3]
    if node.dynamic != (0,) or weights is None or bias is None or not one_each:
        return None
    return _fitted(FloatDepthwiseContext, node, bias, weights, _by_tap)


def _fitted(kind: type[FloatConvContext], node: NodeOf[FloatConv2D], bias: Array, weights: Array, runs: Runs) -> Fit:
    k = _context(kind, node)
    params = (bias_field(node.op, bias), *bound_fields(node.op), *k.stored.fields_of(weights, runs))
    return Fit(k, params, why=f"plain C99{k.stored.said}", headers=(sum_header(node.op), *k.stored.headers))


def _by_tap(weights: Array) -> list[Array]:
    return [weights[:, :, :, 0].transpose(1, 2, 0).reshape(-1, len(weights))]


CONV2D = Kernel("conv2d_f32", "float32/conv2d.c.j2", "row", (FloatConv2D,), _fit)
DEPTHWISE = Kernel("depthwise_f32", "float32/depthwise.c.j2", "row", (FloatConv2D,), _fit_depthwise)

KERNELS: tuple[Kernel[Any], ...] = (DEPTHWISE, CONV2D)
