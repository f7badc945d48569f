"""Numbers that templates only spell: places of weights, inputs and sums, against arrays laid out as the kernels say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.float32.storage import from_bf16, from_f16
from codegen.float32.weights import narrowed
from codegen.ir.quant import Requant, Storage
from codegen.ir.shape import Window
from codegen.kernels.blocked.conv import BlockedContext, packed, pieces_of
from codegen.kernels.blocked.registers import Choice
from codegen.kernels.dsp.columns import ColumnContext
from codegen.kernels.fast import fast_requant
from codegen.kernels.float32.stored import Stored
from codegen.kernels.gather import block_columns
from codegen.kernels.mve.depthwise import MveDepthwiseContext
from codegen.kernels.packed import Fields, filled_to
from tests.contract.case import STORAGES

RQ = fast_requant(Requant("single", 0, -128, 127, (1 << 30,), (40,)), 1 << 20)
RUNS, RUN = 1, 3 * 2


def blocked(*, planar: bool, unroll: int = 4, fields: Fields | None = None) -> BlockedContext:
    """Two output channels over a 3x3 window of two channels."""
    sizes = {"x_t": "int8_t", "y_t": "int8_t", "c_in": 2, "c_out": 5, "kernel_h": 3, "stride": 2, "pad": 0}
    runs = {"runs": RUNS, "run": RUN, "run_step": 2, "unroll": unroll}
    return BlockedContext(
        **sizes, **runs, planar=planar, channels=2, sizes=(2,), pieces=(), shifted=False, rq=RQ, fields=fields
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("planar", [False, True])
def test_a_weight_is_found_where_it_was_packed(planar: bool) -> None:
    k = blocked(planar=planar)
    weights = np.arange(2 * k.taps).reshape(2, k.taps)
    flat = packed(weights, 1 if planar else 2)
    assert [[flat[k.weight_at(m, tap, 2)] for tap in range(k.taps)] for m in range(2)] == weights.tolist()
    assert k.weights_of(k.taps, 2) + (k.others_weights(2) if planar else 0) == flat.size


@pytest.mark.parametrize(("bits", "element", "channels"), [(4, 8, 2), (4, 8, 1), (4, 32, 2), (2, 8, 1), (2, 16, 2)])
def test_a_weight_of_few_bits_is_found_in_its_field(bits: int, element: int, channels: int) -> None:
    k = blocked(planar=False, fields=Fields(bits, element))
    low = -(1 << (bits - 1))
    weights = np.random.default_rng(bits).integers(low, -low, (channels, RUN * RUNS * 3), np.int8)
    fields, turn = Fields(bits, element), Fields(bits, element).in_turn(channels)
    split = filled_to(weights.reshape(channels, 3, RUN), turn, axis=2).reshape(channels, 3, -1, turn)
    elements = fields.packed(split.transpose(1, 2, 3, 0).reshape(3, split.shape[2], -1))
    assert elements.shape[1] == k.weights_of(RUN, channels)
    for tap in range(RUN):
        before = tap - tap % turn
        element_at = k.element_of(before, channels)
        assert k.element_of(tap, channels) == (element_at if tap == before else -1)
        for channel in range(channels):
            shift = fields.left(k.field_of(channel, tap, channels))
            word = (elements[:, element_at].astype(np.uint64) << np.uint64(shift)).astype(np.uint32)
            assert (word.view(np.int32) >> fields.right).tolist() == weights.reshape(channels, 3, RUN)[
                channel, :, tap
            ].tolist()


def test_turns_and_what_is_left_over_make_a_run() -> None:
    k = blocked(planar=False)
    assert k.turns * k.unroll + k.left_over == RUN
    assert k.turns * k.unroll + k.to_next_run(looped=True) == k.to_next_run(looped=False) == k.run_step


def test_pieces_name_the_bytes_that_their_blocks_read_and_the_elements_that_they_write() -> None:
    w, row, deep = Window(3, stride=2, pad_before=1, pad_after=1), 9, 4
    blocks = ((0, 2), (2, 2), (4, 1))
    for piece in pieces_of(Choice(1, blocks, 1.0), w, (1, 1, row, deep), 7):
        for turn in range(piece.count):
            first = piece.first + turn * piece.pixels
            columns = block_columns(w, row, first, piece.pixels)
            assert piece.columns.first + turn * piece.x_step == deep * columns.first
            assert piece.columns.until == deep * (columns.before + columns.count)
            assert piece.y + turn * piece.y_step == 7 * first


def test_sums_of_two_pixels_lie_channel_by_channel() -> None:
    k = ColumnContext("s8", "int8_t", 5, 3, 12, 3, RQ, wide=False, shifted=False, bits=0, each_shifted=False)
    sums = np.arange(k.sums_of(2, k.c_even)).reshape(k.c_even, 2)
    assert all(sums[m, p] == k.sum_at(2, p, m) for m in range(k.c_even) for p in range(2))
    assert (k.c_even, k.paired, k.rest) == (6, 4, 1)
    assert k.words + k.to_next_pair == 2 * k.groups * k.words


def test_buffers_of_four_rows_repeat_the_last_row() -> None:
    sizes = {"channels": 22, "w_in": 8, "w_out": 8, "kernel_h": 6, "kernel_w": 3, "stride": 1, "dilation": 1, "pad": 1}
    k = MveDepthwiseContext(
        mode="single",
        each=False,
        head=4,
        bounds="NEITHER",
        few=False,
        own=False,
        shifted=False,
        flip=0,
        tile=4,
        **sizes,
    )
    assert [k.rows_of(plane) for plane in range(k.planes)] == [(0, 1, 2, 3), (4, 5, 5, 5)]
    assert [k.has_four(plane) for plane in range(k.planes)] == [True, False]
    assert (k.whole, k.rest, k.beyond_groups, k.partial_at) == (20, 2, 4, 16)
    assert k.words_of(k.whole) == 5 * k.block_words


@pytest.mark.parametrize("storage", ["", *STORAGES, "u4", "u8"])
def test_a_stored_weight_is_found_in_its_run(storage: Storage) -> None:
    s = Stored(storage)
    kept = narrowed(np.random.default_rng(5).normal(0, 1, (5, 3)).astype(np.float32), storage) if storage else None
    weights = np.arange(15, dtype=np.float32).reshape(5, 3) if kept is None else kept
    zeros = {"u4": 0.25 * np.arange(-9, 6), "u8": 0.25 * (17 * np.arange(15) - 3)}
    weights = zeros[storage].astype(np.float32).reshape(5, 3) if storage in zeros else weights
    found = {f.name: f.values for f in s.fields_of(weights, lambda all_of: [all_of[:4].T, all_of[4:].T])}
    assert ("scale" in found) == s.scaled
    assert found["weights"].dtype == s.dtype
    starts = [
        *(s.elements(4) * tap for tap in range(3)),
        *(s.elements(4) * 3 + s.elements(1) * tap for tap in range(3)),
    ]
    assert len(found["weights"]) == starts[-1] + s.elements(1)
    for output, tap in np.ndindex(5, 3):
        index, start = output % 4, starts[tap + 3 * (output // 4)]
        element = found["weights"][start + s.element(index)]
        scale = found["scale"][output] if s.scaled else None
        less = found["less"][output] if s.apart else 0
        assert expanded(element, s, s.place(index), scale, less) == weights[output, tap]


def expanded(element: Any, s: Stored, place: int, scale: Any, less: int) -> float:
    """What templates/macros/f32_weights.j2 spells."""
    if s.in_turn > 1:
        word = np.uint32(element) << np.uint32(s.fields.left(place))
        return float(np.float32((word.view(np.int32) >> s.fields.right) + less) * scale)
    narrow = {"f16": from_f16, "bf16": from_bf16}.get(s.storage)
    made = element if narrow is None else narrow(np.array([element]))[0]
    return float(np.float32(made + less if s.apart else made) * scale) if s.scaled else float(made)
