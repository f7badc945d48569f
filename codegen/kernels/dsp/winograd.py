"""Convolutions of three columns, two or three pairs of outputs at a time: 4 products for 6 (kernels/winograd.py).

What the pairs read is taken apart once into four planes of 16 bits, which all channels share.  A block of assembly
sums each plane by two channels, halves and requantizes (runtime_c/isa/dsp/lam_armv7em_winograd.h,
which also says how the weights lie).  Weights have 16 bits: 8 bytes for three.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.quant import Array
from codegen.kernels.blocked.conv import Piece, pieces_of
from codegen.kernels.blocked.registers import Choice
from codegen.kernels.common import range_field
from codegen.kernels.dsp.bounds import byte_instructions
from codegen.kernels.dsp.factors import Factors, factors_of
from codegen.kernels.dsp.panel_mix import Panel, cut
from codegen.kernels.dsp.panels import assembly_sums, factor_words, last_pair
from codegen.kernels.dsp.words import panel_words
from codegen.kernels.fast import FastRequant
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sizes import PixelSizes
from codegen.kernels.weighted import Weighted
from codegen.kernels.winograd import OUTPUTS, PLANES, is_in_pairs, plane_weights, planes_reach
from codegen.ops import Conv2D
from codegen.records import record

_WIDE = frozenset({"wide"})
_SMALL, _LARGE = 2, 3
"""Pairs of outputs in a block."""
_GROUP, _TOGETHER = 4, 2
"""Values of a group, and channels that are summed at a time."""
_LEAST_WIDTH = 4
_WORD = 4
_ROW_CODE, _PAIR_CODE = 300, 450
"""Code of a row, about, and for each pair of each block: the assembly and what makes planes."""
_TURN = 8
"""Groups of a turn of the assembly's loop."""
_CALL = Mix(other=14, store=8, multiple=6, moved=26, taken=2)
"""Around the channels of a block: registers are kept, and what lies on the stack is made."""
_PLANES_CALL = Mix(other=8, multiple=2, moved=12, taken=3)
"""Around what makes the planes of a kernel row."""
_EDGE = Mix(other=24, load=4, store=4, multiple=2, moved=10, taken=4)
"""Around the copy of a block's columns of a kernel row beside padding."""


@record
class WinogradPanelContext(PixelSizes):
    """Literals of one convolution; `groups` of four values in each plane for a pair of outputs."""

    widen: str
    c_in: int
    c_out: int
    kernel_h: int
    groups: int
    pieces: tuple[Piece, ...]
    rq: FastRequant

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many pairs are made at a time, the most first."""
        return tuple(sorted({self.pairs(piece) for piece in self.pieces}, reverse=True))

    @property
    def padded(self) -> tuple[Piece, ...]:
        """The pieces that read padding."""
        return tuple(piece for piece in self.pieces if not piece.columns.inside)

    @property
    def bytes_at(self) -> int:
        """Words of scratch before what is copied beside padding, behind the planes of those blocks."""
        return max((PLANES * self.plane_words(self.pairs(piece)) for piece in self.padded), default=0)

    @property
    def planes_bytes(self) -> int:
        """Bytes of scratch for the planes of the largest block."""
        return _WORD * PLANES * self.plane_words(self.sizes[0])

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch for the planes of each block, and what is copied."""
        copied = max((piece.columns.total for piece in self.padded), default=0)
        return max(self.planes_bytes, _WORD * self.bytes_at + copied)

    @property
    def odd_at(self) -> int:
        """Words of weights before those of a channel without a partner."""
        return self.paired // _TOGETHER * self.words(_TOGETHER)

    def words(self, channels: int) -> int:
        """Words of weights that so many channels (1 or 2) have."""
        return 2 * channels + 1 + PLANES * 2 * self.groups * channels

    def pairs(self, piece: Piece) -> int:
        """Pairs of outputs in a block."""
        return piece.pixels // OUTPUTS

    def plane_words(self, pairs: int) -> int:
        """Words of a plane."""
        return 2 * self.groups * pairs

    def row_words(self, pairs: int) -> int:
        """Words of a plane for a kernel row."""
        return self.plane_words(pairs) // self.kernel_h

    def copy_at(self, pixel: int, behind: int = 0) -> int:
        """Where the copy of a block's columns begins, of which there is one, or what is so many bytes behind that."""
        return pixel + behind


def takes_pairs(node: NodeView) -> bool:
    """Whether it is a convolution of a shape that is made in pairs."""
    op = node.op
    return (
        isinstance(op, Conv2D)
        and is_in_pairs(op)
        and node.ins[0].shape[3] % _GROUP == 0
        and node.outs[0].shape[2] >= _LEAST_WIDTH
    )


def _fit(most: int, node: NodeOf[Conv2D]) -> Fit | None:
    """With blocks of so many pairs at most: two sizes take fewer cycles and more code."""
    x, y = node.ins[0], node.outs[0]
    if not takes_pairs(node):
        return None
    found = assembly_sums(node, wide=True)
    if found is None or found.limits or not found.sums.of_bytes() or not _stays_in_32_bits(found.sums, found.rq):
        return None
    sums, rq, requant = found.sums, found.rq, found.sums.op.requant
    assert requant is not None, "bytes are requantized"
    pieces = pieces_of(Choice(_TOGETHER, blocks_of(y.shape[2], most), 0), node.op.w, x.shape, y.shape[3])
    k = WinogradPanelContext(
        sums.x.value, x.shape[3], y.shape[3], node.op.h.size, node.op.h.size * x.shape[3] // _GROUP, pieces, rq
    )
    about = "with biases and factors, in the order of lam_armv7em_winograd.h"
    size = k.odd_at + (k.words(1) if k.paired < k.c_out else 0)
    weights = Field.later("weights", np.uint32, size, lambda: _streamed(sums, rq), about)
    zero = sums.zero_fields(padded=len(k.padded) > 0)
    params = (weights, range_field(requant.zero_point, requant.low, requant.high, saturates=True), *zero)
    scratch = (Scratch("planes", k.planes_bytes), Scratch("edge", k.scratch_bytes - k.planes_bytes))
    pairs = " and ".join(map(str, k.sizes))
    why = f"{pairs} pairs of outputs x {_TOGETHER} channels, 4 products for 6, SMLAD on sums and differences of inputs"
    code = _ROW_CODE + sum(_PAIR_CODE * size for size in k.sizes)
    return Fit(k, params, scratch, why, mix=_mix(k), code_bytes=code, larger=True)


def blocks_of(width: int, most: int) -> tuple[tuple[int, int], ...]:
    """First pixel and pixels of each block, small ones at both ends, which may read padding and copy it.

    The last one makes pixels for the second time where blocks would reach over the row.
    """
    pairs = -(-width // OUTPUTS)
    twos = most == _SMALL or width < OUTPUTS * most
    sizes = [_SMALL] * -(-pairs // _SMALL) if twos else [size for size, count in cut(pairs) for _ in range(count)]
    ordered = [sizes[-1], *sizes[:-1]] if sizes.count(sizes[-1]) > 1 else sizes
    pixels = [OUTPUTS * size for size in ordered]
    return tuple((min(sum(pixels[:i]), width - size), size) for i, size in enumerate(pixels))


def _stays_in_32_bits(sums: Weighted, rq: FastRequant) -> bool:
    """Whether every partial sum does, the first of which begins with twice the bias."""
    bias = np.abs(_factors(sums, rq).bias.astype(np.int64))
    return bool((2 * bias + planes_reach(sums)).max() < 1 << 31)


def _factors(sums: Weighted, rq: FastRequant) -> Factors:
    return factors_of(sums, rq, last_pair(len(sums.weights)))


def _streamed(sums: Weighted, rq: FastRequant) -> Array:
    """Twice the biases, the planes p2, p3 and p1, multipliers and shifts, and p0, of two channels after another."""
    own, (outer, inner) = _factors(sums, rq), plane_weights(sums)
    count = len(sums.weights)
    paired, parts = count // _TOGETHER * _TOGETHER, []
    for together, channels in ((_TOGETHER, slice(paired)), (1, slice(paired, None))):
        some = Factors(own.bias[channels], own.multiplier[channels], own.place[channels])
        if len(some.bias):
            planes = (p.reshape(count, -1)[channels] for p in (inner[:, 0], inner[:, 1], outer[:, 1], outer[:, 0]))
            *before, last = (panel_words(p, 1, together, wide=True) for p in planes)
            heads = (2 * some.bias).view(np.uint32).reshape(-1, together)
            factors = factor_words(some, together, lined=rq.form == "lined")
            parts.append(np.concatenate((heads, *before, factors, last), axis=1).reshape(-1))
    return np.concatenate(parts)


def _mix(k: WinogradPanelContext) -> Mix:
    """What a row takes, counted in the assembly of lam_armv7em_winograd.h and the C around it."""
    blocks = (_block_mix(k, k.pairs(piece)).times(piece.count) for piece in k.pieces)
    copies = (_EDGE + Mix(load=0.25, store=0.25).times(piece.columns.total) for piece in k.padded)
    return sum(blocks, sum(copies, Mix()).times(k.kernel_h))


def _block_mix(k: WinogradPanelContext, pairs: int) -> Mix:
    """The planes of so many pairs, and all channels."""
    four = Mix(2 * pairs + 3 + 8 * pairs + 5, pairs + 1, pairs + 1, 8 * pairs, taken=1)
    planes = four.times(k.c_in // _GROUP) + _PLANES_CALL
    odd = _odd_mix(k, pairs) if k.paired < k.c_out else Mix()
    return planes.times(k.kernel_h) + _CALL + _channels_mix(k, pairs).times(k.paired // _TOGETHER) + odd


def _channels_mix(k: WinogradPanelContext, pairs: int) -> Mix:
    """Two channels of so many pairs: each plane's products, what is halved, and the outputs."""
    panel = Panel(pairs, k.groups, wide=True, shifted=False, form=k.rq.form, saturate=k.rq.saturate)
    turns = k.groups // _TURN
    plane = panel.group.times(k.groups) + Mix(4, 4, store=2, taken=2) + Mix(1, 1, taken=1).times(turns)
    kept = Mix(other=2 + 4 * (pairs - 1) + 6 * pairs, load=1, multiple=5, moved=2 + 8 * pairs)
    byte = Mix(other=byte_instructions(k.rq.form), store=1, multiply_add=1)
    outputs = byte.times(4 * pairs) + Mix(3 + 6 * (k.rq.form == "lined"), store=2, multiple=5, moved=15, taken=1)
    return plane.times(PLANES) + kept + outputs


def _odd_mix(k: WinogradPanelContext, pairs: int) -> Mix:
    """A channel without a partner, in C."""
    group = Mix(3, 1, load_next=2 * pairs + 1, multiply_add=2 * pairs, taken=1)
    return group.times(PLANES * k.groups) + Mix(byte_instructions(k.rq.form) + 3, store=1).times(2 * pairs)


def winograd(*, wide: bool) -> Kernel[Conv2D]:
    """The kernel beside those on weights of 8 bits, whose code is shorter, or (`wide`) of 16."""
    return Kernel(
        f"dsp_winograd{'_wide' if wide else ''}",
        "dsp/winograd.c.j2",
        "row",
        (Conv2D,),
        partial(_fit, _LARGE if wide else _SMALL),
        frozenset({"dsp", "winograd"}) | (_WIDE if wide else frozenset()),
        frozenset() if wide else _WIDE,
        headers=("lam_armv7em_winograd.h",),
    )
