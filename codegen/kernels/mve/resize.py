"""Bilinear resizing of 8-bit values: four channels of a pixel at a time."""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.average import mean_mode
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve.common import MVE, is_fast, lane_numbers
from codegen.kernels.resize import pair_fields, pixels_beside
from codegen.kernels.weighted import BYTES
from codegen.ops import ResizeBilinear
from codegen.ops.average import average_requant
from codegen.ops.resize import WEIGHT_ONE
from codegen.records import record

_WHOLE = WEIGHT_ONE**2


@record
class MveBilinearContext:
    """Literals of one bilinear resize; `mode` is empty between equal scales, where sums are shifted."""

    mode: str
    unsigned: bool
    w_out: int
    channels: int
    beside: int
    one: int


def _fit(node: NodeOf[ResizeBilinear]) -> Fit | None:
    op, x, y = node.op, node.ins[0], node.outs[0]
    if x.dtype not in BYTES or y.dtype not in BYTES:
        return None
    how = op.averaging(x.dtype)
    mode, whole_type = mean_mode(how, pool=True), (op.low, op.high) == (y.dtype.low, y.dtype.high)
    sizes = (x.dtype is DType.U8, y.shape[2], y.shape[3], pixels_beside(node), WEIGHT_ONE)
    why, taps = "Helium, 4 channels of a pixel at a time", pair_fields(node)
    if mode == "divide":
        alike = whole_type and y.dtype is x.dtype
        return Fit(MveBilinearContext("", *sizes), taps, why=why) if alike else None
    if mode not in ("single", "tflite") or not is_fast(average_requant(how, _WHOLE)):
        return None
    numbers = (*lane_numbers(average_requant(how, _WHOLE)), -_WHOLE * op.x_quant.zero_point)
    fields = (Field("numbers", np.array(numbers, np.int32)), *taps)
    return Fit(MveBilinearContext(mode, *sizes), fields, why=why)


BILINEAR = Kernel(
    "mve_resize_bilinear",
    "mve/resize_bilinear.c.j2",
    "row",
    (ResizeBilinear,),
    _fit,
    MVE,
    one_input=True,
    headers=("lam_mve_resize.h",),
)
