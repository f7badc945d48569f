"""Two outputs of weights of few bits in a word, with one scale per output: equal to golden, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks import low_bit_layers
from codegen import api
from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, TensorType
from codegen.kernels import TABLE, cuts, find_form, same_function
from codegen.kernels.packed import Fields
from codegen.kernels.tiles import channel_tile
from codegen.laws import differences, graph_of, make_project
from codegen.ops import Conv2D, Dense, make_requant
from codegen.target import load_target
from codegen.toolkit import HOUSE
from tests.contract.case import PACKED, S8, S16, S32, U8, A, Case, ints, q, requant, t, window
from tests.contract.cases import packed
from tests.contract.test_few_bits import FEW_OUTPUTS, IN_PAIRS, layer
from tests.support.emulated import selftest_on
from tests.support.sanitizers import TRAPS
from tests.support.tools import require_tool

CHIPS = ("cortex-m0plus", "cortex-m3", "rv32imc")
LEVELS = {"armv6m": 4, "armv7m": 8, "rv32": 8}
"""With how many inputs they hold at a time."""
PAIRS = {"blocked_pairs", "blocked_run_pairs", "blocked_window_pairs"}
MOST = 1.25
"""Times the instructions of the same integers in bytes."""


def windows(bits: int) -> Iterator[Case]:
    """Rows of one pixel and more, strides and padding of every kind, dilation down; outputs that fill no block."""
    same, strided, bare, point = window(3, 1, 1, 1, 1), window(3, 2, 1, 0, 1), window(2), window(1)
    for name, dtype, h, w, size, c_in, c_out in (
        ("same", S8, same, same, (5, 6), 16, 12),
        ("strided", U8, strided, strided, (7, 9), 9, 19),
        ("bare", S8, bare, bare, (4, 5), 21, 8),
        ("wide_padding", S8, same, window(5, 1, 1, 4, 4), (3, 3), 8, 16),
        ("in_line", S8, same, point, (9, 1), 32, 16),
        ("down", U8, window(3, 1, 2, 2, 2), same, (6, 4), 12, 10),
        ("pointwise", S8, point, point, (3, 5), 70, 22),
        ("over_steps", S8, window(1, 2), window(1, 2), (5, 5), 40, 9),
    ):
        op = Conv2D(h, w, 1, 3 if dtype is U8 else A.zero_point, requant("single", 2**bits * 900, c_out), S8, None)
        weights = packed.few(bits, c_out, h.size, w.size, c_in)
        yield Case(f"pairs_{name}", op, (t(dtype, 1, *size, c_in), weights, ints(S32, c_out) >> 20))


def every() -> Iterator[Case]:
    """Those of all tests of weights of few bits, and more windows."""
    for source in (packed.dense, packed.convolutions, lambda _mode, bits: windows(bits)):
        yield from packed.packed(source)


@cache
def cases(level: str) -> Graph:
    """Those that a level makes in pairs."""
    graph = graph_of(list(every()))
    forms = {node.name: find_form(graph.view(node), level, PACKED.table) for node in graph.nodes}
    taken = {name for name, form in forms.items() if form and form.kernel in PAIRS}
    return graph_of([case for case in every() if case.name in taken])


@pytest.mark.parametrize("level", LEVELS)
def test_every_kind_of_layer_is_among_them(level: str) -> None:
    graph = cases(level)
    views = [graph.view(node) for node in graph.nodes]
    forms = [form for view in views for form in [find_form(view, level, PACKED.table)] if form]
    assert {(type(view.op), view.ins[1].bits, view.ins[1].apart) for view in views} == {
        (op, bits, apart) for op in (Dense, Conv2D) for bits in (2, 4) for apart in (False, True)
    }
    assert {form.kernel for form in forms} == PAIRS
    assert {form.context.held for form in forms} == {LEVELS[level]}
    runs = [form.context for form in forms if form.kernel == "blocked_run_pairs"]
    assert {k.gathers for k in runs} == {False, True}
    assert {len(k.pieces) > 1 for k in runs} == {False, True}
    assert {form.context.summing for form in forms} == ({False} if level == "armv6m" else {False, True})
    assert any(k.part < k.n_in and k.whole_rests for k in (form.context for form in forms))
    assert any(k.part == k.n_in for k in (form.context for form in forms))
    assert all(f"weights of {view.ins[1].bits} bits" in form.why for view, form in zip(views, forms, strict=True))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kept", ["blocked_run_pairs", "blocked_window_pairs"])
@pytest.mark.parametrize("level", LEVELS)
def test_windows_are_read_where_they_lie_or_copied(level: str, kept: str, tmp_path: Path) -> None:
    """Either way: which takes less is not asked here."""
    require_tool("gcc")
    others = {"blocked_conv", "blocked_run_pairs", "blocked_window_pairs"} - {kept}
    tools = replace(
        PACKED, table=replace(PACKED.table, kernels=tuple(k for k in TABLE.kernels if k.name not in others))
    )
    found = graph_of(list(every()))
    forms = {node.name: find_form(found.view(node), level, tools.table) for node in found.nodes}
    of_windows = {name: form for name, form in forms.items() if form and form.kernel == kept}
    assert {form.context.gathers for form in of_windows.values()} == {False, True}
    assert {form.context.parts > form.context.window_rows for form in of_windows.values()} == {False, True}
    graph = graph_of([case for case in every() if case.name in of_windows])
    made = make_project(graph, tmp_path, level, tools)
    assert differences(graph, made, "gcc", f"-O0 {TRAPS}") == []


@pytest.mark.parametrize("flags", [f"-O0 {TRAPS}", "-O3"])
@pytest.mark.parametrize("level", LEVELS)
def test_c_equals_golden(level: str, flags: str, tmp_path: Path) -> None:
    require_tool("gcc")
    assert differences(cases(level), make_project(cases(level), tmp_path, level, PACKED), "gcc", flags) == []


@pytest.mark.parametrize("chip", CHIPS)
def test_c_equals_golden_on_the_emulated_chip(chip: str, tmp_path: Path) -> None:
    level = load_target(chip).isa
    assert selftest_on(chip, make_project(cases(level), tmp_path, level, PACKED)).exit_code == 0


def dense(numbers: Array, x: DType = S8) -> NodeOf[Dense]:
    """A layer of these numbers of 4 bits."""
    outputs, inputs = numbers.shape
    y = x if x is S16 else S8
    op = Dense(0, make_requant("single", 1.0, [2.0**-12], q(1.0), y), y, None)
    arrays = (numbers.astype(np.int8), np.zeros(outputs, np.int32))
    weights, bias = (TensorType(a.shape, DType.of(a)) for a in arrays)
    kinds = (t(x, 1, inputs), TensorType(weights.shape, weights.dtype, bits=4), bias)
    return NodeOf("n", op, kinds, op.infer(kinds), (None, *arrays))


@pytest.mark.parametrize(("number", "part"), [(1, 250), (2, 128), (3, 84), (7, 36)])
def test_two_sums_share_a_word_of_as_many_inputs_as_fit(number: int, part: int) -> None:
    """Of 250 inputs, in whole words of 4: 128 * 128 * 2 is 2^15, one too many, were not one number less."""
    numbers = np.full((4, 250), number)
    numbers[:, ::125] = number - 1
    form = find_form(dense(numbers), "rv32")
    assert form is not None
    k = form.context
    assert (form.kernel, k.part) == ("blocked_pairs", part)
    assert k.parts == -(-250 // part)


def test_sums_of_inputs_at_their_ends_fit_the_halves(tmp_path: Path) -> None:
    """Numbers whose parts come as near the ends of a half as any."""
    require_tool("gcc")
    numbers = np.repeat([[2], [-2], [7], [-8]], 128, axis=1)
    numbers[:2, ::127] //= 2
    case = Case("ends", dense(numbers).op, (t(S8, 1, 128), numbers.astype(np.int8), ints(S32, 4) >> 20), bits=4)
    graph = graph_of([case])
    assert differences(graph, make_project(graph, tmp_path, "rv32"), "gcc", f"-O2 {TRAPS}") == []


@pytest.mark.parametrize("level", LEVELS)
def test_an_output_of_many_inputs_is_summed_alone(level: str) -> None:
    """The sum of the inputs would be as much work as its products."""
    form = find_form(dense(ints(S8, 1, 64) % 7), level)
    assert form is not None
    assert form.kernel == "blocked_conv"


def test_tiles_of_a_layer_have_its_parts_and_one_function() -> None:
    """Though sums of the first outputs are small enough for longer parts."""
    view = dense(np.repeat([[1], [1], [7], [-8]], 64, axis=1))
    form = find_form(view, "rv32")
    assert form is not None
    tiles = [form.refit(channel_tile(view, at, at + 2)) for at in (0, 2)]
    assert {tile.context.part for tile in tiles} == {form.context.part} == {24}
    assert tiles[0].context == tiles[1].context
    assert same_function(view, form, next(cut for cut in cuts(view, form) if cut.channels == 2))


@pytest.mark.parametrize("level", LEVELS)
def test_a_pixel_is_copied_where_outputs_may_lie_over_their_inputs(level: str, tmp_path: Path) -> None:
    require_tool("gcc")
    copying = tuple(replace(k, make=k.copying) if k.name == "blocked_pairs" and k.copying else k for k in TABLE.kernels)
    tools = replace(HOUSE, table=replace(PACKED.table, kernels=copying))
    graph = cases(level)
    forms = [find_form(graph.view(node), level, tools.table) for node in graph.nodes]
    assert {(form.in_place, form.context.copied) for form in forms if form and form.copies} == {(True, True)}
    made = make_project(graph, tmp_path, level, tools)
    assert differences(graph, made, "gcc", f"-O0 {TRAPS}") == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("name", IN_PAIRS)
def test_they_take_a_quarter_more_instructions_than_bytes_at_most(name: str, zeros: bool, chip: str) -> None:
    few, bytes_ = (api.profile(layer(name, bits, zeros and bits == 4), chip).instructions for bits in (4, 8))
    assert few is not None
    assert bytes_ is not None
    assert few <= MOST * bytes_


ALONE = ("cortex-m4", "cortex-m3", "rv32imc")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chip", ALONE)
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("name", FEW_OUTPUTS)
def test_few_outputs_take_a_quarter_more_at_most(name: str, zeros: bool, chip: str) -> None:
    few, bytes_ = (api.profile(layer(name, bits, zeros and bits == 4), chip).instructions for bits in (4, 8))
    assert few is not None
    assert bytes_ is not None
    assert few <= MOST * bytes_


@pytest.mark.parametrize("name", ["two outputs", "three outputs", "line to three", "3x3 to two"])
def test_few_outputs_of_many_inputs_take_a_quarter_more_at_most(name: str) -> None:
    """Inputs are read once for products and for their sum, and windows where they lie."""
    found = low_bit_layers.row("rv32imc", name, 8)["instructions"]
    assert max(found.values()) <= MOST * found["8 bits"]


@pytest.mark.parametrize("level", LEVELS)
def test_an_output_alone_with_a_zero_point_of_its_own_is_in_bytes(level: str) -> None:
    """A pair that is half empty takes as many; of two outputs it takes half."""
    for outputs, kernel, bits in ((1, "blocked_conv", 0), (2, "blocked_pairs", 4)):
        found = dense(ints(S8, outputs, 128) % 7 + 9)
        kinds = (found.ins[0], replace(found.ins[1], apart=True), found.ins[2])
        form = find_form(replace(found, ins=kinds), level)
        assert form is not None
        assert form.kernel == kernel
        assert ("weights of 4 bits" in form.why) == (bits > 0)


@pytest.mark.parametrize(
    ("bits", "counts", "run", "turn", "element"),
    [
        (4, (1, 1), 64, 8, 32),
        (4, (1, 1), 12, 4, 16),
        (4, (2, 1), 9, 8, 8),
        (2, (8, 1), 64, 8, 16),
        (2, (2, 2), 64, 8, 32),
    ],
)
def test_runs_fill_their_elements(bits: int, counts: tuple[int, int], run: int, turn: int, element: int) -> None:
    assert Fields.holding_turns(bits, counts, run, turn).element == element
