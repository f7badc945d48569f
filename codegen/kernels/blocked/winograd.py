"""Convolution of three columns, two neighbouring outputs at a time: 4 products for 6, exact (kernels/winograd.py).

Weights of two of the products stay bytes, the others are int16: twice the flash.  A block transforms its inputs into
scratch, four planes of int16 in which the taps follow each other, each for all pairs of the block, and sums each plane
as if the layer were dense.

Weights: [groups of N channels][plane][taps][N], then the channels left over likewise.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from codegen.ir.form import Field, Scratch, Told
from codegen.ir.op import NodeOf
from codegen.kernels.blocked.conv import Piece, packed, pieces_of
from codegen.kernels.blocked.cores import Core, wide_chips_of
from codegen.kernels.blocked.registers import Choice, Tiles, choose_tiles, tiles_mix, unrolled
from codegen.kernels.fast import FastRequant
from codegen.kernels.gather import gathered_bytes
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.scaling import plain_scaling
from codegen.kernels.sizes import RunSizes
from codegen.kernels.weighted import Weighted, weighted
from codegen.kernels.winograd import COLUMNS, OUTPUTS, PLANES, is_in_pairs, plane_weights, planes_reach
from codegen.ops import Conv2D
from codegen.records import record

_WORD = 4


@record(kw_only=True)
class WinogradContext(RunSizes):
    """Literals of one convolution.  `run` is what a plane has of each pair of outputs.

    Scratch has the planes at `planes_at`, behind copies of columns beside padding.
    """

    x_t: str
    y_t: str
    channels: int
    sizes: tuple[int, ...]
    pieces: tuple[Piece, ...]
    planes_at: int
    rq: FastRequant

    @property
    def groups(self) -> tuple[tuple[int, int, int], ...]:
        """The groups of channels that are summed at a time."""
        return self.outputs_by(self.channels)

    @property
    def told(self) -> Told:
        """How many channels there are, as for blocked_conv."""
        groups = sum(piece.count for piece in self.pieces) * -(-self.c_out // self.channels)
        return Told(("c_out",), row=20.0 * groups)

    @property
    def sums(self) -> int:
        """Sums of all planes in the largest block."""
        return PLANES * self.plane_sums(max(self.sizes), self.channels)

    def plane_sums(self, pixels: int, channels: int) -> int:
        """Sums of one plane in a block."""
        return pairs_of(pixels) * channels

    @property
    def gathers(self) -> bool:
        """Whether any block reads a copy."""
        return any(not p.columns.inside for p in self.pieces)

    def pairs(self, pixels: int) -> int:
        """Pairs of outputs in a block."""
        return pairs_of(pixels)

    def columns(self, pixels: int) -> tuple[int, ...]:
        """Where a block finds the columns that it reads, from its first one on."""
        return tuple(j * self.c_in for j in range(pixels + COLUMNS - 1))

    def transformed(self, pixels: int) -> tuple[tuple[int, int, str, int], ...]:
        """By pair and plane: where the number lies, and the columns that it is made of."""
        pairs = pairs_of(pixels)
        step = self.run * pairs
        found = []
        for pair in range(pairs):
            d0, d1, d2, d3 = (OUTPUTS * pair + j for j in range(PLANES))
            made = ((d0, "-", d2), (d3, "-", d1), (d1, "+", d2), (d2, "-", d1))
            found += [(plane * step + pair, a, sign, b) for plane, (a, sign, b) in enumerate(made)]
        return tuple(found)

    def input_at(self, tap: int, pair: int, pixels: int) -> int:
        """Where a plane has the number of a tap for a pair of outputs."""
        return tap * pairs_of(pixels) + pair

    def weight_at(self, tap: int, channel: int, channels: int) -> int:
        """Where one of `channels` channels finds the weight of a tap."""
        return tap * channels + channel

    def sum_at(self, pixels: int, pair: int, channel: int = 0, plane: int = 0, channels: int = 0) -> int:
        """The place of a sum, channel by channel in each plane of so many."""
        return plane * self.plane_sums(pixels, channels) + channel * pairs_of(pixels) + pair

    def output_at(self, pixel: int) -> int:
        """From a block's first output of a channel to another one."""
        return pixel * self.c_out

    def output_of(self, pair: int, which: int) -> int:
        """The same, to one of a pair."""
        return self.output_at(OUTPUTS * pair + which)


def pairs_of(pixels: int) -> int:
    """Pairs of outputs in so many pixels."""
    return pixels // OUTPUTS


def _fit(core: Core, node: NodeOf[Conv2D]) -> Fit | None:
    sums = weighted(node)
    if sums is None or sums.bits or not sums.of_bytes() or not _is_served(node) or not _stays_in_32_bits(sums):
        return None
    work = Tiles(node.outs[0].shape[2], node.op.h.size * node.ins[0].shape[3])
    choice = choose_tiles(core, work)
    scaling = plain_scaling(sums)
    context = _context(node, choice, scaling.rq)
    scratch = (
        Scratch("columns", context.planes_at),
        Scratch("planes", 2 * PLANES * context.run * pairs_of(max(context.sizes))),
    )
    zero = sums.zero_fields(padded=context.gathers)
    params = (scaling.bias, *zero, *scaling.numbers, *_weights(sums, context))
    sizes = " and ".join(str(pairs_of(pixels)) for pixels in choice.sizes)
    mix = tiles_mix(core, work, choice, context.c_out)
    each = mix.instructions / (work.width * work.taps * COLUMNS * context.c_out)
    made = f"blocks of {sizes} x {choice.channels} sums for pairs of outputs, 4 products for 6"
    why = f"{made}, {each:.2f} instructions per product"
    return Fit(context, params, scratch, why, headers=context.rq.headers, mix=mix)


def _is_served(node: NodeOf[Conv2D]) -> bool:
    return is_in_pairs(node.op) and node.outs[0].shape[2] >= OUTPUTS


def _stays_in_32_bits(sums: Weighted) -> bool:
    """Whether every partial sum of every plane does, and what is made of them, in any order."""
    return bool((np.abs(sums.folded.astype(np.int64)) + planes_reach(sums)).max() < 1 << 31)


def _weights(sums: Weighted, k: WinogradContext) -> tuple[Field, ...]:
    size = 2 * k.run * k.c_out
    order = f"those of {k.channels} outputs beside each other" if k.channels > 1 else "one output after another"
    return (
        Field.later(
            "inner",
            np.int16,
            size,
            lambda: packed(plane_weights(sums)[1], k.channels),
            f"g0 + g1 + g2 and g0 - g1 + g2, {order}",
        ),
        Field.later("outer", np.int8, size, lambda: packed(plane_weights(sums)[0], k.channels), f"g0 and g2, {order}"),
    )


def _context(node: NodeOf[Conv2D], choice: Choice, rq: FastRequant) -> WinogradContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    run = op.h.size * x.shape[3]
    pieces = pieces_of(choice, op.w, x.shape, y.shape[3])
    reaching = [p.pixels for p in pieces if not p.columns.inside]
    copied = gathered_bytes(op.h.size, max(reaching), op.w, x.shape[3], 1) if reaching else 0
    return WinogradContext(
        x_t=x.dtype.ctype,
        y_t=y.dtype.ctype,
        c_in=x.shape[3],
        c_out=y.shape[3],
        kernel_h=op.h.size,
        stride=op.w.stride,
        pad=op.w.pad_before,
        runs=1,
        run=run,
        run_step=run,
        unroll=unrolled(run),
        channels=min(choice.channels, y.shape[3]),
        sizes=choice.sizes,
        pieces=pieces,
        planes_at=-(-copied // _WORD) * _WORD,
        rq=rq,
    )


def blocked_winograd(core: Core) -> Kernel[Conv2D]:
    """The kernel for one core, where weights may take twice the flash."""
    needs, without = wide_chips_of(core)
    return Kernel(
        "blocked_winograd",
        "blocked/winograd.c.j2",
        "row",
        (Conv2D,),
        partial(_fit, core),
        needs,
        without,
        headers=("lam_order.h",),
    )
