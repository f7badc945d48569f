"""Dense layers, convolutions with one group and depthwise ones for RISC-V vectors: rows as they lie, or in scratch.

Channels lie along the vector, so that one packing of the weights, [line][tap][channel], serves every length of vector.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.conv2d import is_pointwise, padded_row
from codegen.kernels.fast import fast_fields, fast_requant, takes_one_product
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import BYTES, Weighted, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

_INT32 = 1 << 31
_NEEDS = frozenset({"rvv"})
_HEADERS = ("lam_rvv.h",)


@record(kw_only=True)
class RvvContext:
    """Literals of a layer, as lam_rvv_layer has them; `line_bytes` is what a row takes in scratch, padding included."""

    mode: str
    each: bool
    unsigned: bool
    own: bool
    lines: int
    taps: int
    tap_step: int
    pixel_step: int
    channels: int
    width: int = 0
    dilation_h: int = 1
    left: int = 0
    inner: int = 0
    right: int = 0
    line_bytes: int = 0


def _sums(node: NodeOf[Conv2D | Dense]) -> Weighted | None:
    """Those of bytes by bytes, whose factors have the form that vectors take."""
    sums = weighted(node, apart=True)
    if sums is None or sums.x not in BYTES or sums.y not in BYTES or sums.weights.dtype != np.int8:
        return None
    requant = node.op.requant
    fine = requant is not None and sums.reach < _INT32 and takes_one_product(requant, sums.reach)
    return sums if fine else None


def _fields(sums: Weighted) -> tuple[Field, ...]:
    """Params `bias`, the factors and `weights`."""
    flat = sums.weights.reshape(len(sums.weights), -1)
    weights = Field.later(
        "weights", np.int8, flat.size, lambda: np.ascontiguousarray(flat.T).reshape(-1), "[line][tap][channel]"
    )
    return (sums.bias_field(), *fast_fields(sums.op.requant, sums.reach, len(flat)), weights)


def _fit_dense(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    sums = _sums(node)
    if sums is None or not is_pointwise(node.op):
        return None
    inputs = node.ins[0].shape[-1]
    k = _context(node, sums, own=False, taps=inputs, tap_step=1, pixel_step=inputs)
    return Fit(k, _fields(sums), why="rvv: channels along the vector, four pixels at a time")


def _fit_conv(node: NodeOf[Conv2D]) -> Fit | None:
    op, sums = node.op, _sums(node)
    if sums is None or op.groups != 1 or op.w.dilation != 1:
        return None
    deep = node.ins[0].shape[3]
    return _fit_rows(node, sums, own=False, taps=deep * op.w.size, tap_step=1)


def _fit_depthwise(node: NodeOf[Conv2D]) -> Fit | None:
    op, sums = node.op, _sums(node)
    deep = node.ins[0].shape[3]
    if sums is None or op.groups != deep or node.outs[0].shape[3] != deep or deep == 1:
        return None
    return _fit_rows(node, sums, own=True, taps=op.w.size, tap_step=deep * op.w.dilation)


def _fit_rows(node: NodeOf[Conv2D], sums: Weighted, *, own: bool, taps: int, tap_step: int) -> Fit:
    """A layer whose rows are padded in scratch."""
    op, deep = node.op, node.ins[0].shape[3]
    left, inner, right = (deep * pixels for pixels in padded_row(node))
    k = _context(
        node,
        sums,
        own=own,
        taps=taps,
        tap_step=tap_step,
        pixel_step=deep * op.w.stride,
        lines=op.h.size,
        width=node.outs[0].shape[2],
        dilation_h=op.h.dilation,
        left=left,
        inner=inner,
        right=right,
        line_bytes=left + inner + right,
    )
    fill = Field("fill", np.array([op.x_zero_point], np.int32), about="what padding is")
    scratch = Scratch("lines", k.lines * k.line_bytes, k.lines * k.line_bytes)
    return Fit(k, (fill, *_fields(sums)), (scratch,), f"rvv: {k.lines} rows in scratch, channels along the vector")


def _context(node: NodeOf[Conv2D | Dense], sums: Weighted, *, own: bool, lines: int = 1, **numbers: int) -> RvvContext:
    requant = node.op.requant
    return RvvContext(
        mode="SINGLE" if fast_requant(requant, sums.reach).form == "single" else "TFLITE",
        each=requant is not None and len(requant.multiplier) > 1,
        unsigned=sums.x is DType.U8,
        own=own,
        channels=node.outs[0].shape[-1],
        lines=lines,
        **numbers,
    )


DENSE: Kernel[Conv2D | Dense] = Kernel(
    "rvv_dense", "rvv/dense.c.j2", "pixels", (Dense, Conv2D), _fit_dense, _NEEDS, headers=_HEADERS
)
CONV = Kernel("rvv_conv", "rvv/rows.c.j2", "rows", (Conv2D,), _fit_conv, _NEEDS, headers=_HEADERS)
DEPTHWISE = Kernel("rvv_depthwise", "rvv/rows.c.j2", "rows", (Conv2D,), _fit_depthwise, _NEEDS, headers=_HEADERS)
