"""Dense layers and pointwise convolutions: y = requant(W x + b) per pixel, any run of pixels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from codegen.ir.form import Scratch
from codegen.ir.op import NodeOf
from codegen.ir.shape import row_pixels
from codegen.kernels.common import RequantContext, requant_context, requant_fields
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.planes import UNPACKS, Planes, Unpacked, few_headers, few_weights, plain
from codegen.kernels.weighted import Weighted, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record


@record
class DenseContext:
    """Literals of one dense layer: n_in inputs, n_out outputs per pixel.

    Of weights of few bits `planes` says how they lie, or `unpacked`, where an output's become bytes for all pixels.
    """

    x_t: str
    w_t: str
    y_t: str
    acc_t: str
    n_in: int
    n_out: int
    shifted: bool
    rq: RequantContext
    planes: Planes | None = None
    unpacked: Unpacked | None = None


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    sums = weighted(node, apart=True)
    if sums is None or not is_pointwise(node.op):
        return None
    few = few_weights(node.ins[1], sums.weights)
    planes = few.shared_planes(sums, node.ins[0].shape[-1]) if few else None
    numbers = (*sums.zero_fields(padded=False), *requant_fields(node.op.requant))
    stored = few.fields_of(planes) if few and planes else (sums.plain_weights(),)
    params = (sums.bias_field(), *numbers, *stored)
    context = _context(node, sums, shifted=False)
    context = replace(context, planes=planes, w_t="uint8_t") if planes else context
    return Fit(context, params, why=plain(few), headers=(*context.rq.headers, *few_headers(few)))


def _fit_unpacked(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    """Where several pixels have use of an output's weights once they are bytes."""
    sums = weighted(node, apart=True)
    few = few_weights(node.ins[1], sums.weights) if sums else None
    if sums is None or few is None or not is_pointwise(node.op):
        return None
    if not few.unpack(node.ins[0].shape[-1], row_pixels(node.outs[0].shape)):
        return None
    stored = (*few.less_fields(), few.in_runs(halves=True))
    params = (sums.bias_field(), *sums.zero_fields(padded=False), *requant_fields(node.op.requant), *stored)
    context = replace(_context(node, sums, shifted=False), unpacked=few.unpacked, w_t="uint8_t")
    scratch = Scratch("weights", few.unpacked.filled(context.n_in))
    return Fit(context, params, (scratch,), plain(few), headers=(*context.rq.headers, *few_headers(few)))


def _fit_shifted(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    """Where sums have 32 bits, and a shift makes bytes of 16-bit weights."""
    sums = weighted(node, apart=True)
    if sums is None or not is_pointwise(node.op) or sums.shift is None or sums.wide:
        return None
    stored = sums.byte_weights("[outputs][inputs]")
    params = (sums.bias_field(), *requant_fields(node.op.requant), *sums.shift_fields(), stored)
    context = _context(node, sums, shifted=True)
    return Fit(context, params, why="weights are bytes less a shift", headers=context.rq.headers)


def _context(node: NodeOf[Conv2D | Dense], sums: Weighted, *, shifted: bool) -> DenseContext:
    x, w, _ = node.ins
    return DenseContext(
        x_t=x.dtype.ctype,
        w_t="int8_t" if shifted else w.dtype.ctype,
        y_t=node.outs[0].dtype.ctype,
        acc_t=sums.acc_t,
        n_in=x.shape[-1],
        n_out=w.shape[0],
        shifted=shifted,
        rq=requant_context(node.op.requant, wide=sums.wide),
    )


DENSE: Kernel[Conv2D | Dense] = Kernel("dense", "dense.c.j2", "pixels", (Dense, Conv2D), _fit, program_memory=True)
DENSE_SHIFTED: Kernel[Conv2D | Dense] = Kernel("dense_shifted", "dense.c.j2", "pixels", (Dense, Conv2D), _fit_shifted)
DENSE_UNPACKED: Kernel[Conv2D | Dense] = Kernel(
    "dense_unpacked", "dense.c.j2", "pixels", (Dense, Conv2D), _fit_unpacked, needs=UNPACKS
)

KERNELS: tuple[Kernel[Any], ...] = (DENSE_SHIFTED, DENSE_UNPACKED, DENSE)
