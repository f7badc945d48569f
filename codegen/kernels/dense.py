"""Dense layers and pointwise convolutions: y = requant(W x + b) per pixel, any run of pixels."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.common import RequantContext, is_wide, requant_context, requant_fields
from codegen.kernels.conv2d import bias_fields, conv_constants, fits, shift_fields, shift_of, shifted_weights
from codegen.kernels.kernel import adapted
from codegen.ops import Conv2D, Dense


@dataclass(frozen=True, slots=True)
class DenseContext:
    """Literals of one dense layer: n_in inputs, n_out outputs per pixel."""

    x_t: str
    w_t: str
    y_t: str
    acc_t: str
    n_in: int
    n_out: int
    shifted: bool
    rq: RequantContext


def is_pointwise(op: Conv2D) -> bool:
    """Whether each output pixel is made of the input pixel at its own place."""
    return op.groups == 1 and all(w.size == w.stride == 1 and w.pad_before == w.pad_after == 0 for w in (op.h, op.w))


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    return (isinstance(op, Dense) or (isinstance(op, Conv2D) and is_pointwise(op))) and fits(node)


def _is_shifted(node: NodeView, isa: str) -> bool:
    """Whether sums have 32 bits, and a shift makes bytes of 16-bit weights."""
    op = node.op
    if not _accepts(node, isa) or shift_of(node) is None:
        return False
    assert isinstance(op, Dense | Conv2D)
    return not is_wide(*conv_constants(node), op.x_zero_point, node.ins[0].dtype)


def _context(node: NodeView, shifted: bool = False) -> DenseContext:
    op = node.op
    assert isinstance(op, Dense | Conv2D)
    x, w, _ = node.ins
    wide = is_wide(*conv_constants(node), op.x_zero_point, x.dtype)
    return DenseContext(
        x_t=x.dtype.ctype,
        w_t="int8_t" if shifted else w.dtype.ctype,
        y_t=node.outs[0].dtype.ctype,
        acc_t="int64_t" if wide else "int32_t",
        n_in=x.shape[-1],
        n_out=w.shape[0],
        shifted=shifted,
        rq=requant_context(op.requant, wide=wide),
    )


def _params(node: NodeView, shifted: bool = False) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Dense | Conv2D)
    weights, bias = conv_constants(node)
    stored = shifted_weights(node) if shifted else weights
    return (
        *bias_fields(weights, bias, op.x_zero_point, node.ins[0].dtype),
        *requant_fields(op.requant),
        *(shift_fields(node) if shifted else ()),
        Field("weights", stored.reshape(-1)),
    )


DENSE = adapted("dense", "dense.c.j2", "pixels", _accepts, _context, _params)
DENSE_SHIFTED = adapted(
    "dense_shifted",
    "dense.c.j2",
    "pixels",
    _is_shifted,
    lambda node: _context(node, shifted=True),
    lambda node: _params(node, shifted=True),
    explain=lambda node: "weights are bytes less a shift",
)
