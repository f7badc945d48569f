"""LayerNorm: the sums of each pixel, then its channels less their mean over their deviation; groups in one call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import TensorType
from codegen.kernels.common import channels, range_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import LayerNorm
from codegen.ops.layer_norm import BITS
from codegen.records import record

_WORD = 32
_NARROW = 1 << 38
_MOST_NARROW = 1 << 12


@record
class LayerNormContext:
    """Elements per pixel; which gain and which offset each takes, in C; fractional bits; what they shift by.

    And whether their mean is taken off, or a number; and of how many pixels, where that is one call, with factors in
    `sets` of `per_set`.  `narrow`: sums, distances and deviations fit 32 bits, so that one high product makes the
    latter.  `high`: of a result the upper word says all then.
    """

    channels: int
    gain: str
    offset: str
    bits: int
    right: int
    centred: bool
    pixels: str
    sets: int
    per_set: int
    narrow: bool
    high: bool

    @property
    def word(self) -> str:
        """The type of sums."""
        return "int32_t" if self.narrow else "int64_t"

    @property
    def left(self) -> int:
        """From what a high half shifts by to what a distance is shifted by to the left before it."""
        return _WORD - self.right

    @property
    def one(self) -> str:
        """One, as the offsets of all channels are shifted."""
        return f"((int64_t)1 << {self.bits})"


def _fit_pixels(node: NodeOf[LayerNorm]) -> Fit | None:
    return _fit(node, "n") if node.op.sets == 1 else None


def _fit_whole(node: NodeOf[LayerNorm]) -> Fit:
    shape = node.ins[0].shape
    return _fit(node, str(math.prod(shape[:-1])))


def _fit(node: NodeOf[LayerNorm], pixels: str) -> Fit:
    op, count = node.op, channels(node.ins[0].shape)
    centred, narrow = op.around is None, _is_narrow(op, node.ins[0], count)
    context = LayerNormContext(
        channels=count,
        gain=_place(op, op.gain, count),
        offset=_place(op, op.offset, count),
        bits=BITS,
        right=31 - BITS,
        centred=centred,
        pixels=pixels,
        sets=op.sets,
        per_set=count // op.run,
        narrow=narrow,
        high=narrow and op.shift + BITS >= _WORD,
    )
    words = (op.epsilon & 0xFFFFFFFF, op.epsilon >> 32)
    return Fit(
        context,
        (
            Field("gain", np.array(op.gain, np.int32)),
            Field("offset", np.array(op.offset, np.int32)),
            Field("epsilon", np.array(words, np.uint32)),
            *(() if centred else (Field("around", np.array([op.around], np.int32)),)),
            range_field(op.y_quant.zero_point, op.dtype.low, op.dtype.high),
            Field("shift", np.array([op.shift + BITS], np.int8)),
        ),
    )


def _is_narrow(op: LayerNorm, x: TensorType, count: int) -> bool:
    """Whether V is below 2^38: 1 / sqrt(V) is then shifted right by 32 - left, 0 <= left <= 20.

    A distance is at most sqrt(count * V), so that 2^left of it fit 32 bits.
    """
    reach = x.dtype.reach(0 if op.around is None else op.around)
    most = (count * reach) ** 2 + op.epsilon
    return x.dtype.bytes == 1 and count <= _MOST_NARROW and most < _NARROW


def _place(op: LayerNorm, part: tuple[int, ...], count: int) -> str:
    """Where channel i finds its number: from `first` on, where there are sets."""
    if len(part) == 1:
        return "0"
    along = "" if op.run == count else "i" if op.run == 1 else f"i / {op.run}"
    return " + ".join(p for p in ("first" if op.sets > 1 else "", along) if p)


LAYER_NORM = Kernel(
    "layer_norm", "layer_norm.c.j2", "pixels", (LayerNorm,), _fit_pixels, one_input=True, headers=("lam_fixed.h",)
)
GROUP_NORM = Kernel(
    "group_norm", "layer_norm.c.j2", "whole", (LayerNorm,), _fit_whole, one_input=True, headers=("lam_fixed.h",)
)

KERNELS: tuple[Kernel[Any], ...] = (LAYER_NORM, GROUP_NORM)
