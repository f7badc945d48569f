"""Sums over the whole map; over the channels of each pixel positions of extremes, and the largest ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.common import channels, only_dynamic, range_field, requant_takes
from codegen.kernels.kernel import adapted
from codegen.kernels.pool import GlobalContext
from codegen.ops import ArgExtremum, GlobalSum, TopK


@dataclass(frozen=True, slots=True)
class ArgContext:
    """Elements per pixel, and the C comparison by which a number beats the one found so far."""

    channels: int
    beats: str


@dataclass(frozen=True, slots=True)
class TopContext:
    """Elements per pixel, and how many of them are found, or their positions."""

    channels: int
    count: int
    positions: bool


def _accepts_top(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, TopK) and only_dynamic(node)


def _top_context(node: NodeView) -> TopContext:
    assert isinstance(node.op, TopK)
    return TopContext(channels(node.ins[0].shape), node.op.count, node.op.positions)


def _accepts_arg(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, ArgExtremum) and only_dynamic(node)


def _arg_context(node: NodeView) -> ArgContext:
    assert isinstance(node.op, ArgExtremum)
    beats = (">" if node.op.largest else "<") + ("=" if node.op.last else "")
    return ArgContext(channels(node.ins[0].shape), beats)


def _accepts_sum(node: NodeView, isa: str) -> bool:
    op = node.op
    if not isinstance(op, GlobalSum) or not only_dynamic(node):
        return False
    kind = node.ins[0]
    count = kind.shape[1] * kind.shape[2]
    least, most = kind.dtype.low - op.x_zero_point, kind.dtype.high - op.x_zero_point
    return requant_takes(op.requant, count * least, count * most)


def _sum_context(node: NodeView) -> GlobalContext:
    assert isinstance(node.op, GlobalSum)
    _, h, w, c = node.ins[0].shape
    return GlobalContext(node.op.requant.mode, h, w, c)


def _sum_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, GlobalSum)
    step = op.requant
    return (
        Field("zero", np.array([op.x_zero_point], np.int32)),
        range_field(step.zero_point, step.low, step.high),
        Field("multiplier", np.array(step.multiplier, np.int32)),
        Field("shift", np.array(step.shift, np.int8)),
    )


def _sums_bytes(node: NodeView) -> int:
    return node.ins[0].shape[3] * np.dtype(np.int32).itemsize


ARG_EXTREMUM = adapted("arg_extremum", "arg_extremum.c.j2", "pixels", _accepts_arg, _arg_context)
TOP_K = adapted("top_k", "top_k.c.j2", "pixels", _accepts_top, _top_context)
GLOBAL_SUM = adapted(
    "global_sum", "global_average.c.j2", "accumulate", _accepts_sum, _sum_context, _sum_params, _sums_bytes
)
