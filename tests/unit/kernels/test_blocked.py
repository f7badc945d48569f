"""Blocks for the register file: what the cost model chooses, how weights are packed, what windows read at the edges."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.form import Form
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.quant import DType, TensorType
from codegen.ir.shape import Window
from codegen.kernels.blocked import BLOCKED
from codegen.kernels.blocked.conv import packed, pieces_of, room_in_row
from codegen.kernels.blocked.cores import CORES
from codegen.kernels.blocked.registers import (
    Choice,
    Slide,
    Work,
    choose,
    choose_slide,
    covers,
    fits,
    in_windows,
    turn_of,
    windows_bytes,
)
from codegen.kernels.gather import block_columns, gathered_bytes
from codegen.ops import Conv2D, make_requant
from codegen.target import FEATURES
from tests.contract.case import q

WORKS = [Work(w, k, r, s) for w in (1, 2, 5, 6, 32, 33) for k, r, s in ((27, 9, 6), (64, 64, 64), (4608, 512, 512))]


def test_covers_leave_no_pixel_out_and_write_only_inside() -> None:
    for width, pixels in itertools.product(range(1, 40), range(1, 9)):
        if pixels > width:
            continue
        for cover in covers(width, pixels):
            made = [first + i for first, size in cover for i in range(size)]
            assert set(made) == set(range(width))
            assert list(cover) == sorted(cover)
            assert len({size for _, size in cover}) <= 2


@pytest.mark.parametrize("core", CORES.values(), ids=lambda c: c.name)
@pytest.mark.parametrize("work", WORKS, ids=str)
def test_the_choice_fits_the_registers_and_no_other_size_alone_is_cheaper(core, work) -> None:  # type: ignore[no-untyped-def]
    choice = choose(core, work)
    assert all(fits(core, work, pixels, choice.channels) for pixels in choice.sizes)
    larger = Work(work.width * 8, work.taps, work.run, work.step)
    assert choose(core, larger).cost <= choice.cost * 1.03, "long rows can only help"


def test_choices_that_the_documentation_names() -> None:
    """Pixels x channels on chips with and without multiply-accumulate; a row of 5 takes two sizes or overlaps."""
    assert choose(CORES["armv7m"], Work(32, 144, 48, 16)).blocks == tuple((4 * i, 4) for i in range(8))
    assert choose(CORES["armv7m"], Work(32, 144, 48, 16)).channels == 2
    assert choose(CORES["armv7m"], Work(1, 640, 640, 640)).channels == 8
    assert choose(CORES["rv32"], Work(32, 144, 48, 16)).sizes == (4,)
    assert choose(CORES["rv32"], Work(32, 144, 48, 16)).channels == 4
    assert choose_slide(CORES["armv7m"], Slide(5, 3, 3, 1, 1)).blocks == ((0, 5),)


def test_a_single_pixel_left_over_takes_two_groups_where_products_are_one_instruction() -> None:
    work = Work(5, 64, 64, 64, two_groups=True, c_out=64)
    choice = choose(CORES["armv7m"], work)
    assert choice.blocks == ((0, 2), (2, 2), (4, 1))
    assert [choice.channels_of(pixels) for pixels in (2, 1)] == [4, 8]
    assert choice.cost < choose(CORES["armv7m"], replace(work, two_groups=False)).cost
    assert not choose(CORES["armv7m"], replace(work, taps=2200, run=2200)).two_groups, "loads reach 4095 bytes"
    assert not any(choose(core, work).two_groups for core in CORES.values() if core.product > 1)


def test_threes_are_taken_where_they_save_a_twentieth() -> None:
    """With what they leave over: of 64 channels one, of few channels a larger part."""
    work = Work(5, 64, 64, 64, c_out=64)
    assert choose(CORES["rv32"], work).channels == 3
    assert {choose(core, work).channels for core in CORES.values() if not core.uneven} & {3, 6} == set()
    assert choose(CORES["rv32"], replace(work, c_out=0)).channels == 2
    assert choose(CORES["rv32"], replace(work, c_out=4)).channels == 2


def test_rows_of_several_pixels_have_longer_turns() -> None:
    """Not of one pixel, whose weights pass once, not short runs of several, and not where blocks have many sums."""
    point = Work(6, 16, 16, 16)
    assert [turn_of(CORES["armv7m"], work) for work in (point, Work(6, 384, 128, 128))] == [16, 16]
    others = (replace(point, width=1), replace(point, run=72, taps=72), replace(point, taps=48))
    assert [turn_of(CORES["armv7m"], work) for work in others] == [8, 8, 8]
    assert turn_of(CORES["rv32"], point) == 8


def test_windows_are_copied_where_short_runs_are_many_and_channels_too() -> None:
    """A layer of more channels never takes less: its scratch is that of tiles."""
    short = Work(5, 40, 4, 2, c_out=64)
    for core in (CORES["armv7m"], CORES["armv6m"]):
        assert in_windows(core, short, 64) == replace(short, run=40, step=40)
        taken = [in_windows(core, replace(short, c_out=n), n) is not None for n in range(1, 65)]
        assert taken == sorted(taken)
        assert not taken[0]
    assert in_windows(CORES["armv7m"], Work(48, 27, 9, 6, c_out=8), 8) is None
    assert in_windows(CORES["armv7m"], Work(5, 64, 64, 64, c_out=64), 64) is None
    assert windows_bytes(CORES["armv7m"], replace(short, run=40, step=40)) == 80


def test_a_slide_reads_each_column_once() -> None:
    assert Slide(9, 3, 3, 1, 1).inputs(4) == [0, 1, 2, 3, 4, 5]
    assert Slide(9, 3, 3, 2, 1).inputs(3) == [0, 1, 2, 3, 4, 5, 6]
    assert Slide(9, 3, 2, 3, 1).inputs(2) == [0, 1, 3, 4]
    assert Slide(9, 3, 3, 1, 2).inputs(2) == [0, 1, 2, 3, 4, 5]


def test_weights_lie_in_the_order_of_reading() -> None:
    weights = np.arange(5 * 3).reshape(5, 1, 1, 3)
    assert packed(weights, 2).tolist() == [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, 12, 13, 14]
    assert packed(weights, 8).tolist() == weights.reshape(5, 3).T.reshape(-1).tolist()


def test_columns_of_a_block_against_counting() -> None:
    sizes = itertools.product((1, 3), (1, 2, 3), (1, 2), range(9), range(1, 7), range(5), range(1, 4))
    for size, stride, dilation, pad, w_in, first, pixels in sizes:
        window = Window(size, stride, dilation, pad, 0)
        start = first * stride - pad
        read = range(start, start + (pixels - 1) * stride + window.extent)
        columns = block_columns(window, w_in, first, pixels)
        inside = [c for c in read if 0 <= c < w_in]
        assert columns.before == sum(c < 0 for c in read)
        assert columns.after == sum(c >= w_in for c in read)
        assert columns.count == len(inside)
        assert not inside or columns.first == inside[0]
        assert gathered_bytes(3, pixels, window, 7, 1) == 3 * 7 * columns.total


def _conv(channels: int, outputs: int) -> NodeView:
    same = Window(3, 1, 1, 1, 1)
    op = Conv2D(same, same, 1, -5, make_requant("single", 1.0, [0.001] * outputs, q(1.0), DType.S8), DType.S8, None)
    types = (
        TensorType((1, 9, 11, channels), DType.S8),
        TensorType((outputs, 3, 3, channels), DType.S8),
        TensorType((outputs,), DType.S32),
    )
    weights = np.ones((outputs, 3, 3, channels), np.int8)
    return NodeOf("n", op, types, op.infer(types), (None, weights, np.zeros(outputs, np.int32)))


@pytest.mark.parametrize("core", CORES)
def test_packing_adds_no_byte_and_fewer_outputs_take_no_more_scratch(core: str) -> None:
    """Scratch is planned for whole layers, and serves tiles of their channels."""
    forms = [_form(_conv(6, n), core) for n in range(1, 20)]
    sizes = {f.name: f.values.size for f in forms[8].params}
    assert sizes == {"bias": 9, "x_zero_point": 1, "multiplier": 9, "shift": 9, "range": 3, "weights": 9 * 54}
    for whole, form in enumerate(forms):
        assert max(tile.scratch_bytes for tile in forms[: whole + 1]) <= form.for_tiles.scratch_bytes
    assert 0 < forms[8].for_tiles.scratch_bytes <= 3 * 10 * 6
    assert "instructions per product" in forms[8].why


@pytest.mark.parametrize("core", [core for core in CORES if core != "armv6m"])
def test_edges_are_copied_to_outputs_that_are_stored_later_where_the_row_has_room(core: str) -> None:
    """On a Cortex-M0 such a layer reads copies of all its windows."""
    narrow, wide = _form(_conv(6, 1), core), _form(_conv(6, 32), core)
    assert narrow.scratch_bytes > 0 == wide.scratch_bytes
    assert narrow.context.copies_at == -1
    k = wide.context
    over = [piece for piece in k.pieces if not piece.columns.inside]
    assert over
    assert list(k.pieces[: len(over)]) == over, "they come first"
    end = k.copies_at * 32 + wide.for_tiles.scratch_bytes
    for piece in over:
        assert piece.y + piece.pixels * 32 <= k.copies_at * 32 or piece.y >= end


def test_copies_lie_where_no_block_over_an_edge_stores_outputs() -> None:
    """Of every cover, whether it is ever the cheapest one, and every way to pad."""
    room = 0
    windows = [Window(3, 1, 1, before, after) for before, after in itertools.product(range(3), repeat=2)]
    for w, width, pixels in itertools.product(windows, range(3, 14), range(1, 6)):
        for cover in covers(w.out_len(width), pixels) if pixels <= w.out_len(width) else ():
            pieces = pieces_of(Choice(1, cover, 0), w, (1, 1, width, 1), 8)
            over = [piece for piece in pieces if not piece.columns.inside]
            size = max((piece.columns.total for piece in over), default=0)
            at = room_in_row(pieces, 8, size)
            if at >= 0:
                room += 1
                assert all(8 * (p.first + p.pixels) <= 8 * at or 8 * p.first >= 8 * at + size for p in over)
                assert 8 * at + size <= max(8 * (p.first + p.count * p.pixels) for p in pieces if p.columns.inside)
    assert room > 0


def _form(node: NodeView, core: str) -> Form:
    return next(form for kernel in BLOCKED if (form := kernel.fit(node, FEATURES[core])))
