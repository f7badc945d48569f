"""What depthwise products with Helium take: instructions by kind, counted as in dense_mix.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.form import Mix
from codegen.kernels.mve.common import LANES
from codegen.kernels.mve.dense_mix import FAR, of_mode, straight

if TYPE_CHECKING:
    from codegen.kernels.mve.depthwise import MveDepthwiseContext

_CALL = Mix(other=76, multiple=8, moved=64, taken=2)
"""Around a row: registers are kept, and what the assembly works on is made."""
_TILE = Mix(other=30)
_GROUPS = Mix(other=15, taken=2)
_GROUP = Mix(other=30, taken=1)
"""Around a tile, the groups of channels where there are several, and each of them."""
_PLANE = Mix(other=11, taken=1)
_BORDERS = Mix(other=11, taken=1)
_WIDE = Mix(other=45, multiple=2, moved=4)
"""Around a block whose windows are several vectors."""
_WITH_STEPS = (16, 32, 64)
"""Channels of which loads move their address on to the next column."""


def depthwise_mix(k: MveDepthwiseContext) -> Mix:
    """What a row takes, tile by tile."""
    firsts = range(0, k.w_out, k.tile)
    return sum((_tile(k, first) for first in firsts), _CALL)


def _tile(k: MveDepthwiseContext, first: int) -> Mix:
    """Its columns interleaved, and the outputs of whole blocks and of a partial one."""
    pixels = min(k.tile, k.w_out - first)
    at = first * k.stride - k.pad
    inside = max(min(at + k.columns, k.w_in) - max(at, 0), 0)
    groups = range(0, k.channels, k.group)
    found = _TILE + sum((_interleaved(k, inside, min(k.group, k.channels - channel)) for channel in groups), Mix())
    if len(groups) > 1:
        found += _GROUPS
    if k.has_borders:
        found += _BORDERS + straight(5, 3).times(k.planes * (k.columns - inside))
    for channel in groups:
        blocks = min(k.group, k.whole - channel) // LANES
        found += _blocks(k, pixels, blocks, k.channels) if blocks > 0 else Mix()
    if k.rest:
        found += _blocks(k, pixels, 1, LANES) + Mix(other=12 + 3.5 * pixels)
    return found


def _interleaved(k: MveDepthwiseContext, columns: int, lanes: int) -> Mix:
    """Columns of some channels, side by side by rows."""
    found, flip = _GROUP + _PLANE.times(k.planes - 1), k.flip > 0
    for plane in range(k.planes):
        if k.has_four(plane):
            found += straight(18, 12).times(columns)
        else:
            steps = lanes == 16 and k.channels in _WITH_STEPS
            found += (straight(8 if steps else 12, 6) + straight(3, 1).times(flip)).times(columns)
    return found


def _blocks(k: MveDepthwiseContext, pixels: int, blocks: int, y_step: int) -> Mix:
    """Some blocks of four channels for the pixels of a tile."""
    if k.vectors > 1:
        expanded = straight(13 if k.own else 11 if k.few else 8, 1).times(4 * k.vectors)
        return (_WIDE + _wide(k).times(pixels) + expanded).times(blocks)
    pairs, odd = divmod(pixels, 2)
    block = straight(27 + (k.step == "N"), 3, 2, 4) + _taken_apart(k)
    block += _two(k, y_step).times(pairs) + _one(k).times(odd)
    if k.last == 2:
        block += straight(4, taken=1 - odd)
    jumps = blocks * max(pairs, 1) - 1
    return block.times(blocks) + straight(4) + Mix(other=-jumps, taken=jumps)


def _taken_apart(k: MveDepthwiseContext) -> Mix:
    """What weights of few bits take more."""
    if not k.few:
        return Mix()
    return straight(20, 5) if k.own else straight(12, 4)


def _two(k: MveDepthwiseContext, y_step: int) -> Mix:
    """Two pixels of a block (LAM_MVE_DEPTHWISE)."""
    found = straight(42 if k.step == "N" else 38, 15) + of_mode(k.mode, (4, 3), (1, 1))
    found += straight(5, 2).times(k.bounds == "WITHIN") + straight(2).times(y_step >= FAR)
    return found + straight(2, 2).times(k.few and k.mode == "single") + straight(10, 9).times(k.shifted)


def _one(k: MveDepthwiseContext) -> Mix:
    """The last one."""
    found = straight(22 if k.step == "N" else 20, 7) + of_mode(k.mode, (2, 1), (0, 0))
    found += straight(5, 2).times(k.bounds == "WITHIN")
    return found + straight(1, 1).times(k.few and k.mode == "single") + straight(6, 5).times(k.shifted)


def _wide(k: MveDepthwiseContext) -> Mix:
    """A pixel of a block, of several vectors (LAM_MVE_DEPTHWISE_WIDE)."""
    found = straight(6, 0, 1, 2) + straight(16, 8, taken=1).times(k.products) + straight(17, 4, taken=-1)
    found += of_mode(k.mode, (2, 1), (0, 0))
    return found + straight(3, 1, 1, 2).times(not k.fills_int8)
