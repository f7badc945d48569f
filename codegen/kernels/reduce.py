"""Sums over the whole map; over the channels of each pixel positions of extremes, and the largest ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.average import mean_headers
from codegen.kernels.common import channels, range_field, requant_takes
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.pool import channel_sums, global_context
from codegen.ops import ArgExtremum, GlobalSum, TopK
from codegen.records import record


@record
class ArgContext:
    """Elements per pixel, the C comparison by which a number beats the one found so far, and what is compared."""

    channels: int
    beats: str
    order: str


@record
class TopContext:
    """Elements per pixel, and how many of them are found, or their positions; and how they are compared."""

    channels: int
    count: int
    positions: bool
    beats: str
    order: str


def _fit_top(node: NodeOf[TopK]) -> Fit:
    op, x = node.op, node.ins[0]
    order, headers = _order(x.dtype)
    context = TopContext(channels(x.shape), op.count, op.positions, ">" if op.largest else "<", order)
    return Fit(context, headers=headers)


def _fit_arg(node: NodeOf[ArgExtremum]) -> Fit:
    beats = (">" if node.op.largest else "<") + ("=" if node.op.last else "")
    order, headers = _order(node.ins[0].dtype)
    return Fit(ArgContext(channels(node.ins[0].shape), beats, order), headers=headers)


def _order(dtype: DType) -> tuple[str, tuple[str, ...]]:
    """The C function by whose results numbers are compared, if any, and its headers."""
    return ("lam_f32_order", ("lam_f32_elementwise.h",)) if dtype.is_float else ("", ())


def _fit_sum(node: NodeOf[GlobalSum]) -> Fit | None:
    op, x, step = node.op, node.ins[0], node.op.requant
    count = x.shape[1] * x.shape[2]
    least, most = x.dtype.low - op.x_zero_point, x.dtype.high - op.x_zero_point
    if not requant_takes(step, count * least, count * most):
        return None
    params = (
        Field("x_zero_point", np.array([op.x_zero_point], np.int32), about="of the input"),
        range_field(step.zero_point, step.low, step.high),
        Field("multiplier", np.array(step.multiplier, np.int32), about="of lam_requant.h"),
        Field("shift", np.array(step.shift, np.int8), about="of lam_requant.h"),
    )
    mode = step.mode if step.rounding == "half_up" else step.rounding
    headers = mean_headers(mode)
    return Fit(global_context(mode, x), params, (channel_sums(x),), headers=headers)


ARG_EXTREMUM = Kernel(
    "arg_extremum", "arg_extremum.c.j2", "pixels", (ArgExtremum,), _fit_arg, one_input=True, program_memory=True
)
TOP_K = Kernel("top_k", "top_k.c.j2", "pixels", (TopK,), _fit_top, one_input=True)
GLOBAL_SUM = Kernel("global_sum", "global_average.c.j2", "accumulate", (GlobalSum,), _fit_sum, one_input=True)

KERNELS: tuple[Kernel[Any], ...] = (GLOBAL_SUM, ARG_EXTREMUM, TOP_K)
