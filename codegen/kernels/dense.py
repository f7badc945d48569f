"""Dense layers and pointwise convolutions: y = requant(W x + b) per pixel, any run of pixels."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from codegen.ir.form import Scratch
from codegen.ir.op import NodeOf
from codegen.kernels.called import CALLED, Functions, called_sums
from codegen.kernels.common import RequantContext, requant_context, requant_fields
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.planes import SHORT, UNPACKS, Filters, Laid, few_weights, filled
from codegen.kernels.weighted import Weighted, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record


@record
class DenseContext:
    """Literals of one dense layer: n_in inputs, n_out outputs per pixel.

    `planes`: how outputs share weights; `more`: inputs are summed from a copy with so many zeros.
    """

    x_t: str
    w_t: str
    y_t: str
    acc_t: str
    n_in: int
    n_out: int
    shifted: bool
    rq: RequantContext
    planes: Filters | None = None
    more: int = 0

    @property
    def summed(self) -> int:
        """Inputs that one loop sums."""
        return self.n_in + self.more


def _fit(node: NodeOf[Conv2D | Dense], *, short: bool = False) -> Fit | None:
    sums = weighted(node, apart=True)
    if sums is None or not is_pointwise(node.op):
        return None
    few = few_weights(node.ins[1], sums.weights)
    laid = few.laid(few.shared_planes(sums, node.ins[0].shape[-1], short=short)) if few else None
    return _fit_laid(node, sums, laid or Laid((sums.plain_weights(),)), node.ins[0].shape[-1])


def _fit_laid(node: NodeOf[Conv2D | Dense], sums: Weighted, laid: Laid, summed: int) -> Fit:
    """So many inputs are summed, from a copy where they are more than there are."""
    planes, more = laid.planes, summed - node.ins[0].shape[-1]
    zeros = sums.zero_fields(padded=False, none=bool(planes and planes.prefix))
    params = (sums.bias_field(), *zeros, *requant_fields(node.op.requant), *laid.stored)
    context = _context(node, sums, shifted=False)
    context = replace(context, planes=planes, more=more, w_t=planes.w_t) if planes else context
    scratch = (Scratch("pixel", summed * node.ins[0].dtype.bytes),) if more else ()
    return Fit(context, params, scratch, laid.why, headers=(*context.rq.headers, *laid.headers))


def _fit_filled(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    """Where vectors sum the inputs of a pixel, from a copy unless they fill these."""
    sums = weighted(node, apart=True)
    few = few_weights(node.ins[1], sums.weights) if sums else None
    if sums is None or few is None or not is_pointwise(node.op):
        return None
    inputs = node.ins[0].shape[-1]
    return _fit_laid(node, sums, few.laid(few.vector_planes(sums), filled(inputs) - inputs), filled(inputs))


def _fit_called(node: NodeOf[Conv2D | Dense], *, functions: Functions) -> Fit | None:
    """Functions of a chip sum the inputs of a pixel, from a copy where they are not as many as these take."""
    made = called_sums(node, functions) if is_pointwise(node.op) else None
    return _fit_laid(node, made.sums, made.laid, made.summed) if made else None


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
DENSE_FILLED: Kernel[Conv2D | Dense] = Kernel(
    "dense_filled", "dense.c.j2", "pixels", (Dense, Conv2D), _fit_filled, needs=UNPACKS
)
_SHORT = tuple(
    replace(DENSE, make=partial(_fit, short=True), needs=needs, without=without, program_memory=False)
    for needs, without in SHORT
)

DENSE_CALLED = tuple(
    replace(DENSE_FILLED, make=partial(_fit_called, functions=functions), needs=needs) for needs, functions in CALLED
)
"""Of 16-bit data, on chips that multiply 16 bits several at a time."""

KERNELS: tuple[Kernel[Any], ...] = (DENSE_SHIFTED, *DENSE_CALLED, DENSE_FILLED, *_SHORT, DENSE)
