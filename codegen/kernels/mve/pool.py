"""Pools on 8-bit values: maxima over windows 16 channels at a time, sums four at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import DType
from codegen.kernels.average import mean_fields, mean_mode
from codegen.kernels.common import only_dynamic
from codegen.kernels.kernel import adapted
from codegen.kernels.mve.common import ISA, is_fast, lane_factors
from codegen.kernels.pool import averaging, divides, divisors, mean_accepts
from codegen.ops import AveragePool2D, GlobalAveragePool, MaxPool2D
from codegen.ops.average import average_requant

_MOST_TAPS = 64


@dataclass(frozen=True, slots=True)
class MvePoolContext:
    """Literals of one pool.  `mode`: of a mean; `vectors`: means are requantized four at a time."""

    mode: str
    vectors: bool
    unsigned: bool
    lowest: int
    rows: int
    w_in: int
    w_out: int
    channels: int
    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int
    include_pad: bool
    counted: bool
    least_count: int


def _eight_bits(node: NodeView, isa: str) -> bool:
    return isa == ISA and only_dynamic(node) and node.ins[0].dtype in (DType.S8, DType.U8)


def _accepts_max(node: NodeView, isa: str) -> bool:
    op = node.op
    return isinstance(op, MaxPool2D) and _eight_bits(node, isa) and op.h.size * op.w.size <= _MOST_TAPS


def _accepts_mean(node: NodeView, isa: str) -> bool:
    op = node.op
    return isinstance(op, AveragePool2D) and _eight_bits(node, isa) and mean_accepts(node) and op.w.dilation == 1


def _accepts_global(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, GlobalAveragePool) and _eight_bits(node, isa) and mean_accepts(node)


def _context(node: NodeView) -> MvePoolContext:
    op = node.op
    assert isinstance(op, MaxPool2D | AveragePool2D | GlobalAveragePool)
    x, y = node.ins[0], node.outs[0]
    windows = None if isinstance(op, GlobalAveragePool) else (op.h, op.w)
    counts = [1] if isinstance(op, MaxPool2D) else divisors(node)
    return MvePoolContext(
        mode="max" if isinstance(op, MaxPool2D) else mean_mode(averaging(op), pool=divides(op)),
        vectors=_in_vectors(node),
        unsigned=x.dtype is DType.U8,
        lowest=x.dtype.low,
        rows=x.shape[1],
        w_in=x.shape[2],
        w_out=y.shape[2],
        channels=x.shape[3],
        kernel_h=windows[0].size if windows else x.shape[1],
        kernel_w=windows[1].size if windows else x.shape[2],
        stride=windows[1].stride if windows else 1,
        dilation=windows[1].dilation if windows else 1,
        pad=windows[1].pad_before if windows else 0,
        include_pad=isinstance(op, AveragePool2D) and op.include_pad,
        counted=len(counts) > 1,
        least_count=counts[0],
    )


def _in_vectors(node: NodeView) -> bool:
    """Whether the requantization of each divisor is one that the vector form has."""
    op = node.op
    if isinstance(op, MaxPool2D):
        return False
    assert isinstance(op, AveragePool2D | GlobalAveragePool)
    how = averaging(op)
    if mean_mode(how, pool=divides(op)) in ("divide", "ort"):
        return False
    return all(is_fast(average_requant(how, count)) for count in divisors(node))


def _mean_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, AveragePool2D | GlobalAveragePool)
    how, counts = averaging(op), divisors(node)
    if not _in_vectors(node):
        return mean_fields(how, mean_mode(how, pool=divides(op)), counts)
    numbers: list[int] = []
    for count in counts:
        requant = average_requant(how, count)
        multiplier, shift = lane_factors(requant, 1)
        zero_point = requant.zero_point
        numbers += [int(multiplier[0]), int(shift[0]), zero_point, requant.low - zero_point, requant.high - zero_point]
    return (
        Field("numbers", np.array(numbers, np.int32)),
        Field("zero", np.array([how.x_quant.zero_point], np.int32)),
    )


def _sums_bytes(node: NodeView) -> int:
    return node.ins[0].shape[3] * np.dtype(np.int32).itemsize


def _explain_max(node: NodeView) -> str:
    return "Helium, 16 channels at a time"


def _explain_mean(node: NodeView) -> str:
    return f"Helium, sums of four channels at a time, means {'likewise' if _in_vectors(node) else 'one by one'}"


MAX = adapted("mve_max_pool", "mve/max_pool.c.j2", "row", _accepts_max, _context, explain=_explain_max)
MEAN = adapted(
    "mve_average_pool",
    "mve/average_pool.c.j2",
    "row",
    _accepts_mean,
    _context,
    _mean_params,
    _sums_bytes,
    _explain_mean,
)
GLOBAL_MEAN = adapted(
    "mve_global_average",
    "mve/global_average.c.j2",
    "accumulate",
    _accepts_global,
    _context,
    _mean_params,
    _sums_bytes,
    _explain_mean,
)
