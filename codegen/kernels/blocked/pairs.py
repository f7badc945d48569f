"""Convolutions and dense layers whose weights of few bits have a scale per output: two outputs in a word (halves.py).

A product then makes two outputs, and takes what one takes of weights in bytes.  The inputs of a pixel lie together, or
are copied: windows, and pixels where their outputs may lie over them; or a window is read where it lies, run by run.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from codegen.ir.form import Mix
from codegen.ir.op import NodeOf
from codegen.ir.shape import row_pixels
from codegen.kernels.blocked.conv import gathered, pieces_of, read_by, windows
from codegen.kernels.blocked.cores import OTHER_PRODUCTS, Core, chips_of
from codegen.kernels.blocked.halves import (
    HALF_WORD,
    MOST_HALF,
    PAIRS,
    HalvesContext,
    halves_context,
    halves_headers,
    halves_params,
    halves_scratch,
)
from codegen.kernels.blocked.registers import Choice, copied_mix
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.groups import Grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import weighted
from codegen.ops import Conv2D, Dense

_TEMPLATE = "blocked/halves.c.j2"
_SUMMED, _PART, _TURN, _SPREAD, _APART, _CHANNEL, _GROUP, _CALL = 1.25, 6, 2, 8, 8, 4, 12, 40
"""Instructions of a pixel beside loads and products: of an input's sum, of a part, of a turn of words, of a pair whose
sums are spread, of one with zero points of its own, of an output, of a block, of a call."""
_FEW_BLOCKS = 2
"""So many blocks sum inputs in fewer instructions themselves than they are summed in before."""
_RUN = 8
"""Instructions around a block's run, beside loads and stores of sums for which there are no registers."""
_OTHERS = 7
"""Registers beside inputs, sums and that of the inputs: pointers, the fields' mask, what is taken out by it."""


def _fit(core: Core, node: NodeOf[Conv2D | Dense], *, copied: bool = False, part: int = 0) -> Fit | None:
    """Of dense layers and pointwise ones: a pixel is what its outputs are made of."""
    found = _whole(core, node, part) if is_pointwise(node.op) else None
    if found is None:
        return None
    made, k = found
    k = replace(k, copied=copied)
    in_place = copied or k.n_out <= 2 * PAIRS
    mix = _mix(core, k).times(row_pixels(node.outs[0].shape))
    tiles = partial(_fit, core, copied=copied, part=k.part)
    return replace(_said(node, made, k), mix=mix, in_place=in_place, copies=copied, tiles=tiles)


def _fit_copied(core: Core, node: NodeOf[Conv2D | Dense]) -> Fit | None:
    """Of several blocks of outputs, which read a pixel again and again: where they may not, it is copied."""
    plain = _fit(core, node)
    if plain is None or plain.in_place or node.outs[0].elements == plain.context.n_out:
        return None
    return _fit(core, node, copied=True)


def _fit_runs(core: Core, node: NodeOf[Conv2D], *, part: int = 0) -> Fit | None:
    """A window's runs one after the other: sums of their parts are spread more often, but nothing is copied."""
    op = node.op
    if not _has_windows(op):
        return None
    found = _whole(core, node, part, runs=op.h.size)
    if found is None:
        return None
    made, k = found
    if k.left_over(k.size):
        return None  # what fills words of each run is flash
    width = row_pixels(node.outs[0].shape)
    pieces = pieces_of(Choice(1, tuple((i, 1) for i in range(width)), 0), windows(op)[1], node.ins[0].shape, k.n_out)
    k = replace(k, pieces=pieces, window_rows=op.h.size, runs=True)
    copies = gathered(node, pieces)
    edges = sum(not piece.columns.inside for piece in pieces)
    mix = _mix(core, k).times(width) + _copied(core, k).times(edges)
    fit = _said(node, made, k)
    return replace(fit, mix=mix, scratch=(*fit.scratch, copies), tiles=partial(_fit_runs, core, part=k.part))


def _has_windows(op: Conv2D) -> bool:
    return not is_pointwise(op) and op.groups == 1 and op.w.dilation == 1


def _fit_windows(core: Core, node: NodeOf[Conv2D], *, part: int = 0) -> Fit | None:
    op, found = node.op, _whole(core, node, part)
    if found is None or not _has_windows(op):
        return None
    made, k = found
    width = row_pixels(node.outs[0].shape)
    pieces = pieces_of(Choice(1, tuple((i, 1) for i in range(width)), 0), windows(op)[1], node.ins[0].shape, k.n_out)
    k = replace(k, pieces=pieces, windows=read_by(node, pieces), window_rows=op.h.size)
    mix, tiles = (_mix(core, k) + _copied(core, k)).times(width), partial(_fit_windows, core, part=k.part)
    return replace(_said(node, made, k), mix=mix, tiles=tiles)


def _said(node: NodeOf[Conv2D | Dense], made: Grouped, k: HalvesContext) -> Fit:
    why = f"plain C99, {2 * PAIRS} outputs, two in a word{made.sums.said}"
    return Fit(k, halves_params(node, made, k), halves_scratch(k), why, headers=halves_headers(k))


def _whole(
    core: Core, node: NodeOf[Conv2D | Dense], part: int, *, runs: int = 1
) -> tuple[Grouped, HalvesContext] | None:
    """The sums as those of one group, or one of each run, whose factors are 1.

    `part`: that of the layer that it is a tile of, or 0.
    """
    sums = weighted(node, apart=True)
    if sums is None or not sums.bits or sums.sent or not sums.of_bytes(shifted=True):
        return None
    numbers = sums.shifted_weights().reshape(len(sums.weights), -1).astype(np.int64)
    less = None if sums.less is None else np.repeat(sums.less.reshape(-1, 1), runs, axis=1)
    ones = np.ones((len(numbers), runs), np.int64)
    made = Grouped(sums, numbers.shape[1] // runs, numbers, ones, sums.bits, less)
    part = part or _part(made, HALF_WORD // made.bits)
    if not part:
        return None
    assert made.reach(part) <= MOST_HALF, "the sums of a tile are some of the layer's"
    k = halves_context(node, made, part, scaled=False, held=core.held)
    return made, replace(k, summing=_summing(core, k))


def _summing(core: Core, k: HalvesContext) -> bool:
    """Whether blocks are few, and a core has a register for the sum of the inputs."""
    blocks = sum((end - first) // n for first, end, n in k.outputs)
    pairs = k.pairs_of(k.outputs[0][2])
    return blocks <= _FEW_BLOCKS and min(core.held, k.in_word) + pairs + 1 + _OTHERS <= core.registers


def _part(made: Grouped, turn: int) -> int:
    """The inputs of a part, the most whose sums fit half a word: whole words of which each has about as many; or 0."""
    words = -(-made.block // turn)
    sizes = dict.fromkeys(min(made.block, turn * -(-words // parts)) for parts in range(1, words + 1))
    return next((n for n in sizes if made.reach(n) <= MOST_HALF), 0)


def _mix(core: Core, k: HalvesContext) -> Mix:
    """What the outputs of one pixel take."""
    before = Mix(_SUMMED * k.n_in + _PART * k.parts, load=k.n_in, store=k.parts, taken=k.n_in / 4)
    summed = Mix() if k.summing else before
    blocks = (_block(core, k, n).times((end - first) // n) for first, end, n in k.outputs)
    return sum(blocks, summed + Mix(_CALL))


def _block(core: Core, k: HalvesContext, outputs: int) -> Mix:
    """Of so many outputs: their products, their sums of parts spread, and the outputs themselves."""
    pairs, words = k.pairs_of(outputs), -(-k.n_in // k.in_word)
    products, spread = pairs * k.n_in, k.parts * pairs
    added = products if core.product == 1 else 0
    other = core.pair * products - added + (core.load - 1) * k.n_in + _TURN * words + k.parts * _PART
    other += (k.n_in + pairs * k.parts) * k.summing + _run(core, k, outputs) * k.whole * k.runs
    moved = _SPREAD * spread + _APART * pairs * k.apart + outputs * (_CHANNEL + core.requant - 1)
    loads = k.n_in + words * pairs * -(-k.in_word // core.held) + k.parts
    return Mix(other + moved + _GROUP, load=loads, store=outputs, multiply_add=added, taken=words)


def _run(core: Core, k: HalvesContext, outputs: int) -> int:
    """What each run of a block takes beside its parts."""
    pairs = k.pairs_of(outputs)
    kept = outputs + pairs * k.apart
    spilled = min(core.held, k.in_word) + pairs + kept + _OTHERS > core.registers
    return _RUN + 2 * core.load * kept * spilled


def _copied(core: Core, k: HalvesContext) -> Mix:
    """What the copy of a window takes."""
    return copied_mix(core, k.window_rows, k.n_in)


def blocked_pairs(core: Core) -> tuple[Kernel[Conv2D | Dense], Kernel[Conv2D], Kernel[Conv2D]]:
    """The kernels for one core, of chips whose products are one each."""
    needs, without = chips_of(core)
    served: tuple[type[Conv2D | Dense], ...] = (Dense, Conv2D)
    fit, copied, of_runs, of_windows = (partial(f, core) for f in (_fit, _fit_copied, _fit_runs, _fit_windows))
    chips = (needs, without | OTHER_PRODUCTS)
    return (
        Kernel("blocked_pairs", _TEMPLATE, "pixels", served, fit, *chips, copying=copied),
        Kernel("blocked_run_pairs", _TEMPLATE, "row", (Conv2D,), of_runs, *chips),
        Kernel("blocked_window_pairs", _TEMPLATE, "row", (Conv2D,), of_windows, *chips),
    )
