"""What layers take by the chip's file: near what the emulated cores count, and waits by their definition."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import CompileError, api
from codegen.options import Options
from codegen.pipeline import compile_file, reach, read_model
from codegen.planning import met
from codegen.report.profile import profile_text
from codegen.report.speed import Estimate, Work, estimated_cycles, estimates, work_of
from codegen.target import KernelRates, Memory, Target, load_target
from tests.support.graphs import Sketch
from tests.support.real_tflite import model_path
from tests.support.shared import ROOT

DIGITS = ROOT / "examples" / "digits" / "digits_qdq.onnx"
COUNTED = {
    "cortex-m4": {"kws": 2_859_536, "resnet8": 10_426_895, "ad": 319_029, "vww": 7_969_335, "digits": 251_227},
    "cortex-m0plus": {
        "kws": 15_896_758,
        "resnet8": 59_233_254,
        "ad": 1_409_045,
        "vww": 45_410_236,
        "digits": 1_165_211,
    },
    "cortex-m3": {"kws": 5_698_833, "resnet8": 22_775_688, "ad": 599_828, "vww": 15_629_514, "digits": 447_097},
    "cortex-m55": {"kws": 693_128, "resnet8": 1_887_919, "ad": 45_966, "vww": 1_865_369, "digits": 52_080},
    "cortex-m7": {"kws": 2_856_929, "resnet8": 10_427_920, "ad": 320_229, "vww": 7_967_534, "digits": 250_529},
    "rv32imc": {"kws": 7_688_935, "resnet8": 31_904_999, "ad": 858_570, "vww": 21_845_176, "digits": 632_444},
}
"""Instructions by `lamina profile`; the slow test counts them again."""
CASES = [(chip, name) for chip, found in COUNTED.items() for name in found]


def network(name: str) -> Path:
    """Its file; none of them was part of what the rates are fitted to."""
    return DIGITS if name == "digits" else model_path(f"{name}_int8")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("chip", "name"), CASES)
def test_static_counts_are_within_a_tenth_of_the_emulated_ones(chip: str, name: str) -> None:
    found = api.profile(network(name), chip, estimate=True)
    assert found.instructions is None
    assert found.estimated_instructions == pytest.approx(COUNTED[chip][name], rel=0.1)
    assert found.estimated_instructions == pytest.approx(
        sum(x.estimated_instructions or 0 for x in found.layers), abs=20
    )


@pytest.mark.slow
@pytest.mark.parametrize(("chip", "name"), CASES)
def test_the_emulated_counts_are_as_they_stand_here(chip: str, name: str) -> None:
    found = api.profile(network(name), chip)
    assert found.instructions == pytest.approx(COUNTED[chip][name], rel=0.03)
    assert found.estimated_instructions == pytest.approx(found.instructions, rel=0.1)


def test_kernels_of_wide_weights_have_the_rates_of_those_of_bytes(tmp_path: Path) -> None:
    """On a Cortex-M4: a little more than what is counted, 8,068,215 instructions."""
    chip = tmp_path / "chip.toml"
    chip.write_text((ROOT / "targets/chips/reference/cortex-m4.toml").read_text() + "\n[weights]\nexpand = true\n")
    found = api.profile(network("resnet8"), str(chip), estimate=True)
    assert {layer.kernel for layer in found.layers} >= {"dsp_winograd_wide", "dsp_window_panels_wide"}
    assert found.estimated_instructions == pytest.approx(8_068_215, rel=0.2)


def test_a_layer_takes_what_is_said_of_its_kernel_and_else_of_its_kind() -> None:
    chip = load_target("cortex-m4")
    assert chip.speed is not None
    target, options = met(Options(target="cortex-m4"), DIGITS)
    reached = reach(read_model(DIGITS, options, target), target, options)
    index, form = next(iter(reached.kernels.items()))
    work = work_of(reached.graph.view(reached.graph.nodes[index]))
    told = KernelRates(form.kernel, work.kind, (100, 200, 300, 50, 40, 30), (400, 500, 600, 60, 70, 80))
    narrow = replace(told, instructions=(7, 7, 7, 7, 7, 7), bits=4)
    bare = replace(chip.speed, kernels=())
    whole = work.amounts(2)
    for speed, amounts, rates, of in (
        (replace(bare, kernels=(narrow, told)), whole, told, 1000),
        (bare, (work.products, work.outputs), bare.convolution, 100),
    ):
        found = estimates(reached.graph, reached.kernels, replace(chip, speed=speed))
        assert found is not None
        assert found[index].instructions == sum(a * r for a, r in zip(amounts, rates.instructions, strict=True)) / of
        assert found[index].cycles == sum(a * r for a, r in zip(amounts, rates.cycles, strict=True)) / of


@pytest.mark.parametrize(
    ("work", "lanes", "amounts"),
    [
        (Work("pair", 60, 60, 5), 16, (60, 60, 5, 0, 0, 0)),
        (Work("convolution", 4 * 6 * 27, 24, 2, 8, 6, 3, pieces=6, edges=2), 1, (648, 24, 2, 108, 12, 12)),
        (Work("convolution", 4 * 6 * 27, 24, 2, 8, 6, 3, pieces=6), 16, (24 * 32, 24, 2, 4 * 3 * 16, 12, 0)),
        (Work("convolution", 4 * 6 * 27, 24, 2, 8, 6, 3, pieces=4, edges=1), 1, (648, 24, 2, 72, 8, 4)),
        (Work("dense", 5 * 7, 5, 1, 8, 5, pieces=1), 4, (5 * 8, 5, 1, 8, 1, 0)),
        (Work("grouped", 4 * 6 * 9, 24, 2, 8, 6, 3, pieces=6), 4, (4 * 9 * 8, 24, 2 * 2, 36, 4 * 2 * 3, 0)),
    ],
)
def test_a_vector_that_is_not_full_counts_as_one(work: Work, lanes: int, amounts: tuple[int, ...]) -> None:
    assert work.amounts(lanes) == amounts


def test_what_lies_in_padding_above_and_below_is_not_gathered_and_what_reaches_beside_is_at_an_edge() -> None:
    s = Sketch("padded")
    x = s.input((1, 8, 9, 2))
    graph = s.graph(s.conv(x, 4, 5), s.conv(x, 4, 1))
    padded, point = (work_of(graph.view(node)) for node in graph.nodes)
    assert (padded.runs, padded.pieces, padded.edges) == (5, 8 * 5 - 2 * (2 + 1), 4)
    assert (point.runs, point.pieces, point.edges) == (1, 8, 0)


def test_a_row_of_one_pixel_is_dense_for_a_kernel_that_makes_rows() -> None:
    """One that takes all pixels of a map at once puts several of them together."""
    s = Sketch("column")
    column = s.conv(s.input((1, 6, 1, 8)), 4, 1)
    graph = s.graph(column, s.conv(s.input((1, 6, 2, 8), name="wider"), 4, 1))
    first, second = (graph.view(node) for node in graph.nodes)
    assert [work_of(first, run).kind for run in ("pixels", "row", "rows")] == ["convolution", "dense", "dense"]
    assert [work_of(second, run).kind for run in ("pixels", "row")] == ["convolution", "convolution"]


def flash(**given: int) -> Memory:
    return Memory(name="f", kind="flash", bytes=None, source="x", **given)


def looked(chip: Target, memory: Memory) -> dict[str, Estimate]:
    """The digits' layers on a chip with this flash."""
    ram = next(m for m in chip.memories if m.kind == "ram")
    chip = replace(chip, memories=(ram, memory))
    target, options = met(Options(target="cortex-m4"), DIGITS)
    reached = reach(read_model(DIGITS, options, target), target, options)
    found = estimates(reached.graph, reached.kernels, chip)
    assert found is not None
    return {reached.graph.nodes[i].name: one for i, one in found.items()}


def test_weights_are_waited_for_by_lines_once_for_each_run_of_pixels() -> None:
    chip = load_target("cortex-m4")
    target, options = met(Options(target="cortex-m4"), DIGITS)
    graph = reach(read_model(DIGITS, options, target), target, options).graph
    views = {node.name: graph.view(node) for node in graph.nodes}
    none, slow = looked(chip, flash()), looked(chip, flash(wait=5, line=16))
    kept = looked(chip, flash(wait=5, line=16, cache=1 << 20))
    for name, view in ((name, views[name]) for name in none):
        weights = max((c.size for c in view.consts if c is not None), default=0)
        runs = max(1.0, work_of(view).products / weights / 2) if weights else 0
        assert none[name].waits == 0
        assert slow[name].waits == pytest.approx(runs * weights / 16 * 5)
        assert kept[name].waits == pytest.approx(weights / 16 * 5)
        assert slow[name].cycles == kept[name].cycles == none[name].cycles
    assert sum(x.waits for x in slow.values()) > 5 * sum(x.waits for x in kept.values()) > 0


CHIP = """
name = "two-memories"
description = "x"
core = "cortex-m4"
[[memories]]
name = "fast"
kind = "ram"
bytes = 1500
source = "x"
[[memories]]
name = "slow"
kind = "psram"
bytes = 100000
cost = 5
source = "x"
[[memories]]
name = "flash"
kind = "flash"
bytes = 100000
source = "x"
"""


def test_tensors_in_slow_memory_are_waited_for(tmp_path: Path) -> None:
    """A word there takes four cycles more than one of the fast memory."""
    (tmp_path / "chip.toml").write_text(CHIP)
    compiled = compile_file(DIGITS, Options(target=str(tmp_path / "chip.toml"), goal="speed"))
    (region,) = compiled.plan.regions
    there = {name for name, s in compiled.plan.storage.items() if s.offset >= region.start}
    assert there
    graph = compiled.plan.graph
    found = estimates(graph, compiled.kernels, compiled.target, compiled.plan)
    assert found is not None
    for i, one in found.items():
        names = [n for n in (*graph.nodes[i].inputs, *graph.nodes[i].outputs) if n in there]
        held = sum(compiled.plan.storage[n].rows * compiled.plan.storage[n].row_bytes for n in names)
        assert one.waits == held
    assert estimated_cycles(graph, compiled.kernels, compiled.target) is not None


def test_a_chip_without_a_board_is_estimated_and_says_milliseconds() -> None:
    found = api.profile(DIGITS, "stm32l4r5zi", estimate=True)
    assert found.estimated_cycles is not None
    assert found.estimated_waits is not None
    assert found.estimated_cycles > found.estimated_waits > 0
    assert found.estimated_milliseconds == pytest.approx(1000 * found.estimated_cycles / 120e6, rel=1e-4)
    text = profile_text(found)
    assert "waiting" in text
    assert "compiler" not in text


def test_estimates_stand_beside_the_counts() -> None:
    found = api.profile(DIGITS, "cortex-m4")
    assert found.instructions is not None
    assert found.estimated_instructions == pytest.approx(found.instructions, rel=0.25)
    assert "estimated" in profile_text(found)


@pytest.mark.parametrize("words", [{"cycles": True}, {"repeats": 3}, {"opt_level": "-O2"}])
def test_nothing_that_is_measured_goes_with_an_estimate(words: dict[str, object]) -> None:
    with pytest.raises(CompileError, match=r"^LAM-IMPORT-030 estimate"):
        api.profile(DIGITS, "cortex-m4", estimate=True, **words)  # type: ignore[arg-type]


def test_a_chip_that_says_nothing_has_no_estimate() -> None:
    found = api.profile(DIGITS, "avr", estimate=True)
    assert found.estimated_instructions is found.estimated_cycles is None


BOARDS = {
    "stm32l4r5zi": {"resnet8": 19.88e6, "kws": 5.21e6, "ad": 0.575e6, "vww": 14.24e6},
    "stm32u575zi": {"resnet8": 17.52e6, "kws": 4.64e6},
}
"""Cycles of X-CUBE-AI's submissions to MLPerf Tiny: 10.2 of v1.3, vww by 8.1 of v1.1, which GCC compiled."""


CMSIS_NN = {"resnet8": 46.75e6, "kws": 11.98e6, "vww": 36.14e6, "ad": 1.033e6}
"""Cycles of CMSIS-NN on an STM32L4R5 at 120 MHz: microTVM's submission to MLPerf Tiny v1.0."""


@pytest.mark.parametrize("name", CMSIS_NN)
def test_cycles_of_another_engine_s_counted_instructions_are_within_a_quarter_of_its_board(name: str) -> None:
    """The model of cycles and waits alone: the engine's own instructions, counted on the emulated core."""
    counted = tomllib.loads((ROOT / "benchmarks" / "peers.toml").read_text(encoding="utf-8"))["cortex-m4"][name]
    found = api.profile(network(name), "stm32l4r5zi", estimate=True)
    assert found.estimated_cycles is not None
    assert found.estimated_instructions
    told = counted * found.estimated_cycles / found.estimated_instructions
    assert told == pytest.approx(CMSIS_NN[name], rel=0.25)


@pytest.mark.parametrize(("chip", "name"), [(chip, name) for chip, found in BOARDS.items() for name in found])
def test_estimates_are_within_a_quarter_of_what_a_board_took_with_another_engine(chip: str, name: str) -> None:
    found = api.profile(network(name), chip, estimate=True)
    assert found.estimated_cycles == pytest.approx(BOARDS[chip][name], rel=0.25)
