"""Which layers' weights of few bits are packed: those where that saves more flash than code for it takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.ir.op import NodeView
from codegen.kernels import find_form
from codegen.kernels.tiles import channel_tile
from codegen.kernels.worth_packing import UNPACKING
from tests.contract.case import S8, S16, ints
from tests.contract.test_pairs import dense

SAID = "weights of 4 bits"
CODE = {one.feature: one.code for one in UNPACKING if one.data == 8}
LEVELS = {"armv7em": CODE["dsp"], "armv7m": CODE["armv7m"], "armv6m": CODE["armv6m"], "rv32": CODE["rv32"]}
"""Levels that leave some in bytes, and how many bytes packing has to save more than."""


def said(view: NodeView, level: str) -> bool:
    form = find_form(view, level)
    assert form is not None
    return SAID in form.why


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("level", "code"), LEVELS.items())
def test_weights_are_bytes_where_code_for_few_bits_takes_what_they_save(level: str, code: int, apart: bool) -> None:
    """A zero point of an output's own takes a byte of what is saved."""
    for outputs in (2, 4):
        inputs = 2 * code // outputs + 2 * apart
        for more, packs in ((0, False), (2, True)):
            found = dense(ints(S8, outputs, inputs + more) % 7 + (9 if apart else 0))
            view = replace(found, ins=(found.ins[0], replace(found.ins[1], apart=apart), found.ins[2]))
            assert said(view, level) == packs


@pytest.mark.parametrize(("level", "packs"), [("armv7em", True), ("armv7m", True), ("armv6m", True), ("rv32", False)])
def test_an_output_alone_is_packed_where_that_takes_less_code(level: str, packs: bool) -> None:
    assert said(dense(ints(S8, 1, 64) % 7), level) == packs


@pytest.mark.parametrize(("level", "inputs"), [("armv7em", 20), ("armv81m_mve", 40), ("rv32", 80), ("c99", 0)])
def test_layers_of_16_bit_data_have_a_number_of_their_own(level: str, inputs: int) -> None:
    """An output alone saves nothing."""
    assert not inputs or not said(dense(ints(S8, 8, inputs // 8 * 4) % 7, S16), level)
    assert said(dense(ints(S8, 8, inputs // 8 * 4 + 4) % 7, S16), level)
    assert not said(dense(ints(S8, 1, 400) % 7, S16), level)


@pytest.mark.parametrize(("level", "outputs"), [("armv7em", {6, 7, 8, 10}), ("armv81m_mve", {4, 6, 7, 8, 9, 10})])
def test_few_outputs_of_16_bit_data_are_bytes_where_the_sum_of_their_inputs_is_much(
    level: str, outputs: set[int]
) -> None:
    packed = {n for n in range(1, 11) if said(dense(ints(S8, n, 200) % 7, S16), level)}
    assert packed == outputs


def test_weights_that_are_filled_to_fours_save_less() -> None:
    """Where 16-bit inputs are multiplied two at a time, of few inputs most would be filling."""
    few = dense(ints(S8, 96, 2) % 7, S16)
    assert [said(few, level) for level in ("armv7em", "armv81m_mve")] == [False, True]


@pytest.mark.parametrize("level", ["c99", "armv81m_mve"])
def test_others_pack_the_fewest(level: str) -> None:
    assert said(dense(ints(S8, 2, 16) % 7), level)


@pytest.mark.parametrize(("level", "code"), LEVELS.items())
def test_tiles_have_weights_of_as_many_bits_as_their_layer(level: str, code: int) -> None:
    """Though packing one of them alone would save less than its code takes."""
    for inputs, packs in ((code // 3 + 2, True), (code // 3 - 2, False)):
        view = dense(ints(S8, 6, inputs) % 7)
        form = find_form(view, level)
        assert form is not None
        assert (SAID in form.why) == packs
        for size in (1, 2):
            tile = form.refit(channel_tile(view, 0, size))
            assert (SAID in tile.why) == packs
            assert (SAID in tile.refit(channel_tile(view, 0, 1)).why) == packs
