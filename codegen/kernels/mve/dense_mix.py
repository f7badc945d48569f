"""What products with Helium take: instructions by kind, counted in runtime_c/isa/mve and in the C around it.

By that they are weighed against other kernels, by the cycles that the core's file gives each kind.  What stands there
in one piece is counted as it is assembled (`straight`); what compilers make of the C around it is about so much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.form import Mix
from codegen.kernels.mve.common import CHUNK, LANES

if TYPE_CHECKING:
    from codegen.kernels.mve.dense import MveDenseContext

_CALLS = {
    "columns": Mix(other=68, multiple=8, moved=61, taken=1),
    "pairs": Mix(other=14, multiple=6, moved=40),
    "vector": Mix(other=76, multiple=6, moved=62),
}
"""Around a call, by form: registers are kept, and what the assembly works on is made."""
_LOOP = Mix(other=15, taken=2)
"""Around the pixels of one that makes many rows."""
_TABLE = Mix(other=53, multiple=8, moved=18)
"""Around a row whose pairs of pixels read kernel rows where they lie."""
_SLID = Mix(other=11)
_POINTED = Mix(other=19)
"""What a pair takes by which its rows are found: from the pair before, and what it takes more without."""
_TILE = Mix(other=17, taken=1)
_TWO_PIXELS = Mix(other=18, taken=2)
_PIXEL = Mix(other=19, taken=1)
_WINDOW = Mix(other=3)
_CALLED = Mix(other=4, multiple=2, moved=8)
_EDGE = Mix(other=18, multiple=2, moved=8, taken=4)
"""Around a window; where there is a function for it; and one over the end of a row, which is filled first."""
_ROWS_WRITTEN_OUT = _CHUNKS_WRITTEN_OUT = 3
"""Rows and chunks in each of which pairs need no loop."""
FAR = 128
"""Bytes from which on a load or store cannot move its address on."""


def straight(count: float, behind: float = 0, multiple: float = 0, moved: float = 0, taken: float = 0) -> Mix:
    """So many instructions, of which so many are vector ones right behind another of their unit, and so on."""
    other = count - behind - multiple - taken
    return Mix(other=other, multiple=multiple, moved=moved, taken=taken, vector_next=behind)


_FEW_BYTES = {2: straight(3), 4: straight(3), 8: straight(8)}
"""Kernel rows of so many bytes, which are copied by loads and stores of registers."""


def of_mode(mode: str, tflite: tuple[int, int], ort: tuple[int, int]) -> Mix:
    """What a requantization takes more than with one rounding."""
    return straight(*{"tflite": tflite, "ort": ort}.get(mode, (0, 0)))


def dense_mix(k: MveDenseContext, rows: int, pixels: int) -> Mix:
    """What each of so many rows of an output takes; kernels that run over pixels make all in a call."""
    if k.by_pixels:
        return (_run(k).times(pixels / k.run) + _CALLS[k.form] + _LOOP).times(1 / rows)
    return _run(k) + _CALLS[k.form] + (_TABLE if k.in_rows else Mix())


def _run(k: MveDenseContext) -> Mix:
    """The pixels of a run."""
    if k.by_tiles:
        whole, left = divmod(k.run, k.tile)
        made = _tile(k, k.tile).times(whole) + (_tile(k, left) if left else Mix())
    else:
        made = _pixels(k, "pairs").times(k.paired // 2) + _pixels(k, "vector").times(k.unpaired)
    return made + (_edges(k) if k.gathered and not k.by_pixels else Mix())


def _tile(k: MveDenseContext, pixels: int) -> Mix:
    """Some pixels by columns: their windows, the blocks of channels, and those of a partial one."""
    found = _columns(k, pixels, k.full_blocks, k.c_out) + (_columns(k, pixels, 1, LANES) if k.rest else Mix())
    totals = straight(2.5 * k.chunks + 4).times(pixels) if k.totals and not k.by_pixels else Mix()
    return _TILE + found + totals + _gathered(k).times(pixels) + _rest(k, pixels)


def _rest(k: MveDenseContext, pixels: int) -> Mix:
    """Channels of a partial block to their place."""
    return Mix(other=4 + 3.5 * pixels) if k.rest else Mix()


def _pixels(k: MveDenseContext, form: str) -> Mix:
    """Two pixels, or one."""
    made, pixels, around = (_pairs, 2, _TWO_PIXELS) if form == "pairs" else (_vector, 1, _PIXEL)
    found = made(k, k.full_blocks) + (made(k, 1) if k.rest else Mix()) + _rest(k, pixels)
    sources = _SLID if k.in_rows and pixels > 1 else _gathered(k).times(pixels)
    return around + found + sources + (_added(k, pixels) if k.sums_inputs else Mix())


def _added(k: MveDenseContext, pixels: int) -> Mix:
    """The sums of pixels' inputs, where outputs add a number times them."""
    return straight((1 + 2 * pixels) * k.chunks + 6 + 4 * pixels, pixels * k.chunks, taken=1)


def _gathered(k: MveDenseContext) -> Mix:
    """The copy of a pixel's inputs, or of its window as if it lay inside the row."""
    flip = int(k.flip > 0)
    if not k.gathered:
        return Mix()
    if k.by_pixels:
        return straight((3 + flip) * k.chunks + 3.5 + flip)
    if k.in_threes:
        return straight(10 + 3 * flip, 4 + 2 * flip)
    around = _WINDOW + (_CALLED if k.has_edges else Mix())
    if k.dilation > 1:
        tap = straight((3 + flip) * -(-k.c_in // CHUNK) + 7, 1, taken=1)
        return around + tap.times(k.kernel_h * k.kernel_w)
    if k.has_short_rows:
        return around + _FEW_BYTES.get(k.row_bytes, straight(6, 1)).times(k.kernel_h)
    return around + _copied(k, k.row_bytes).times(k.kernel_h)


def _copied(k: MveDenseContext, size: int) -> Mix:
    """So many bytes of a kernel row."""
    chunks, flip = -(-size // CHUNK), int(k.flip > 0)
    return straight((3 + flip) * chunks + 5, (1 - flip) * chunks)


def _edges(k: MveDenseContext) -> Mix:
    """What windows over the ends of a row take more, and two pixels whose windows are not those before, further on."""
    found = _POINTED.times(sum(not k.first_sliding <= x < k.end_sliding for x in range(0, k.paired * k.in_rows, 2)))
    if not k.has_edges or k.dilation > 1:
        return found
    inside = Mix() if k.in_rows else _gathered(k)
    for column in (x for x in range(k.run) if not k.first_inside <= x < k.end_inside):
        at = column * k.stride - k.pad
        within = max(min(at + k.kernel_w, k.w_in) - max(at, 0), 0)
        filled = _EDGE + straight(2 * k.chunks, k.chunks)
        found += filled + _copied(k, within * k.c_in).times(k.kernel_h) + inside.times(-1)
    return found


def _vector(k: MveDenseContext, blocks: int) -> Mix:
    """Some blocks of channels for one pixel (LAM_MVE_VECTOR_BY and what is like it)."""
    if not blocks:
        return Mix()
    opened = straight(6, 1, 2, 4) if k.each else straight(4, 0, 2, 4)
    chunk = straight(11 if _packed(k) else 9, 3 if k.own else 5)
    turns = k.chunks / (1 if _packed(k) else k.vector_turn)
    block = opened + chunk.times(k.chunks) + straight(turns) + _vector_outputs(k)
    shared = straight(9, 1, 1, 2) if k.each else straight(12, 2, 2, 4)
    return _calls(block, blocks) + shared + straight(1, 1).times(k.own)


def _vector_outputs(k: MveDenseContext) -> Mix:
    """From the sums of a block to bytes."""
    single = k.mode == "single"
    found = straight(17 + single, 5 + single) if k.own else straight(12 if _packed(k) else 10, 4)
    return found + of_mode(k.mode, (2, 2), (1, 1)) + straight(2, 1).times(k.shifted)


def _pairs(k: MveDenseContext, blocks: int) -> Mix:
    """The same for two pixels (LAM_MVE_PAIRS_BY, LAM_MVE_ROW_PAIRS and what is like them)."""
    if not blocks:
        return Mix()
    chunk = straight(16, 10) if _packed(k) else straight(14, 8 if k.own else 6)
    block = _pairs_open(k) + chunk.times(k.chunks) + _pairs_outputs(k)
    shared = straight(3) + (Mix() if k.each else straight(3, 1, 1, 2)) + straight(1).times(k.own)
    if not k.fills_int8:
        shared += straight(-2) if k.own else straight(1, 1, 1, 2)
    return _calls(block, blocks) + shared


def _pairs_open(k: MveDenseContext) -> Mix:
    """Around the chunks of a block, whose loop may be over rows, and turns of several chunks."""
    found = Mix() if k.each else straight(-2, -1)
    if not k.turn:
        turns = -(-k.chunks // 2)
        jumps = turns - 1 + k.chunks % 2
        return found + straight(13 + 2 * turns, 1, 3, 6, taken=jumps)
    turns = k.row_chunks // k.turn
    found += straight(4 + (k.rows > 1 or turns > 1), 1, 2, 8)
    row = straight(1, 0, 1, 2) + (straight(2 * turns, taken=turns - 1) if turns > 1 else Mix())
    if k.rows > 1 and not (k.rows == _ROWS_WRITTEN_OUT and k.row_chunks == _CHUNKS_WRITTEN_OUT):
        row += straight(6 if turns > 1 else 3, taken=1)
    return found + row.times(k.rows)


def _pairs_outputs(k: MveDenseContext) -> Mix:
    """From the sums of a block to bytes."""
    if k.own:
        single = k.mode == "single"
        found = straight(32 + single, 8 + single, 3, 6) + straight(5, 2, 1, 2).times(not k.fills_int8)
    else:
        found = straight(24 if k.few else 20, 6, 2, 4) + straight(2).times(not k.fills_int8)
    return found + of_mode(k.mode, (4, 4), (2, 2)) + straight(3, 1, 1, 2).times(k.shifted)


def _packed(k: MveDenseContext) -> bool:
    """Whether weights of 4 bits have no zero points of their own."""
    return k.few and not k.own


def _calls(block: Mix, blocks: int) -> Mix:
    """A block as often as there are, with the jumps back."""
    return block.times(blocks) + Mix(other=1 - blocks, taken=blocks - 1)


def _columns(k: MveDenseContext, pixels: int, blocks: int, y_step: int) -> Mix:
    """The same for the pixels of a tile (lam_mve_columns.h)."""
    if not blocks:
        return Mix()
    kept = k.chunks == 1 and not _packed(k)
    pairs, odd = divmod(pixels, 2)
    block = _columns_open(k, kept=kept) + _columns_two(k, y_step, kept=kept).times(pairs)
    block += _columns_one(k, kept=kept).times(odd)
    if k.last == 2:
        block += straight(5, taken=1 - odd)
    jumps = blocks * max(pairs, 1) - 1
    shared = straight(2 if kept else 4) + (Mix() if k.each else straight(3, 1, 1, 2))
    return block.times(blocks) + shared + Mix(other=-jumps, taken=jumps)


def _columns_open(k: MveDenseContext, *, kept: bool) -> Mix:
    """Around the pixels of a block; its weights are loaded, or taken apart."""
    found = straight(14, 5) if kept else straight(11, 2)
    found += Mix() if k.each else straight(-2, -2)
    if k.own and kept:
        found += straight(11, 2) + straight(4, 4).times(k.raised)
    elif k.own:
        found += straight(14 * k.chunks + 10, 10 * k.chunks - 1) + straight(4, 4).times(k.raised * k.chunks)
    return found


def _columns_two(k: MveDenseContext, y_step: int, *, kept: bool) -> Mix:
    """The products of two pixels and their outputs."""
    n = k.chunks
    if kept:
        found = straight(30, 10, 2, 8) + of_mode(k.mode, (5, 5) if k.each else (6, 6), (2, 1))
    else:
        found = straight(16 * n + 23 if _packed(k) else 14 * n + 19, 6 * n + 9) + of_mode(k.mode, (4, 6), (2, 2))
    far = 2 * (y_step >= FAR) + (2 * k.x_step - CHUNK * (n - 1) >= FAR)
    return found + straight(far) + straight(5, 2).times(k.bounds == "WITHIN") + straight(4, 1).times(k.shifted)


def _columns_one(k: MveDenseContext, *, kept: bool) -> Mix:
    """The same of one."""
    n = k.chunks
    found = straight(11 * n + 11, n + 5) if _packed(k) else straight(9 * n + 9, 3 * n + 5)
    found = straight(15, 7, 1, 4) if kept else found
    found += of_mode(k.mode, (2, 2), (1, 1)) + straight(5, 2).times(k.bounds == "WITHIN")
    return found + straight(2).times(k.shifted)
