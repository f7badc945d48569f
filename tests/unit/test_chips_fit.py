"""lamina targets --fits: what is said of each chip is what compiling for it gives, and the fast ones come first."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import api
from codegen.errors import CompileError, ModelRejected
from codegen.options import Options
from codegen.pipeline import compile_file, reach, read_model
from codegen.planning import met
from codegen.report.speed import estimated_cycles, work_of
from codegen.target import load_target
from codegen.verbs.fits import Fit
from tests.support.chips import BOUGHT, CHIPS
from tests.support.real_tflite import model_path
from tests.unit.cli.conftest import DIGITS, TINY, Lamina, lamina

__all__ = ["lamina"]


@pytest.fixture(name="found", scope="module")
def _found() -> tuple[Fit, ...]:
    return api.fits(DIGITS)


@pytest.mark.slow
def test_every_part_that_one_can_buy_is_asked_once(found: tuple[Fit, ...]) -> None:
    assert sorted(f.target for f in found) == sorted(BOUGHT)


def test_those_that_it_fits_come_first_and_the_fastest_at_the_top(found: tuple[Fit, ...]) -> None:
    good = [f for f in found if f.fits]
    assert list(found[: len(good)]) == good
    times = [f.milliseconds for f in good if f.milliseconds is not None]
    assert times == sorted(times)
    assert len(times) >= 60
    assert all(f.reason for f in found[len(good) :])
    assert "LAM-TARGET-020" in next(f.reason for f in found if f.target == "ingenic-t02"), "its rules are asked"
    assert not any(f.reason for f in good)


@pytest.mark.parametrize("name", ["stm32f407vg", "rp2040", "esp32", "gap8", "alif-e7-he", "atmega328p", "rp2350-riscv"])
def test_what_is_said_of_a_chip_is_what_compiling_for_it_gives(name: str, found: tuple[Fit, ...]) -> None:
    fit = next(f for f in found if f.target == name)
    try:
        compiled = compile_file(DIGITS, Options(target=name))
    except CompileError as error:
        assert not fit.fits
        first = (error.problems() if isinstance(error, ModelRejected) else (error,))[0]
        assert first.code in fit.reason or "lacks" in fit.reason
    else:
        assert fit.fits
        assert fit.arena_bytes == compiled.plan.arena_bytes
        assert (fit.flash_needed or 0) > compiled.program.params_bytes


def test_milliseconds_are_cycles_by_the_clock(found: tuple[Fit, ...]) -> None:
    slow, fast = (next(f for f in found if f.target == name) for name in ("nrf52840", "mk64fn1m0"))
    assert slow.milliseconds is not None
    assert fast.milliseconds is not None
    assert slow.milliseconds * 64 == pytest.approx(fast.milliseconds * 120)


COUNTED = {"cortex-m4": 4.43e6, "cortex-m7": 2.63e6, "cortex-m3": 10.8e6}
"""Cycles of kws by docs/performance.md, from the emulated boards."""


@pytest.mark.parametrize("chip", COUNTED)
def test_estimates_are_near_what_the_emulated_core_counts(chip: str) -> None:
    path = model_path("kws_int8")
    target, options = met(Options(target=chip), path)
    reached = reach(read_model(path, options, target), target, options)
    cycles = estimated_cycles(reached.graph, reached.kernels, target)
    assert cycles == pytest.approx(COUNTED[chip], rel=0.1)


def test_layers_are_told_apart_by_how_often_a_weight_is_used() -> None:
    path = model_path("kws_int8")
    target, options = met(Options(target="cortex-m4"), path)
    graph = reach(read_model(path, options, target), target, options).graph
    kinds = [work_of(graph.view(node)).kind for node in graph.nodes]
    assert kinds[:3] == ["convolution", "grouped", "convolution"]
    assert {"dense", "element"} <= set(kinds)


def test_a_chip_whose_memory_does_not_suffice_says_by_how_much(tmp_path: Path) -> None:
    text = (
        'name = "small"\ndescription = "x"\ncore = "cortex-m4"\n[[memories]]\nname = "r"\nkind = "ram"\nbytes = 512\n'
        'source = "x"\n[[memories]]\nname = "f"\nkind = "flash"\nbytes = 1024\nsource = "x"\n'
    )
    path = tmp_path / "small.toml"
    path.write_text(text)
    (fit,) = api.fits(DIGITS, str(path))
    assert not fit.fits
    assert fit.arena_bytes is not None
    assert fit.reason.startswith(f"RAM lacks {fit.arena_bytes - 512} B; flash lacks ")
    assert fit.milliseconds is None, "nobody says how fast it is clocked"


def test_a_float_network_needs_a_chip_that_takes_floats() -> None:
    model = DIGITS.with_name("digits.onnx")
    (none,) = api.fits(model, "avr")
    assert "LAM-TARGET-008" in none.reason
    (soft,), (hard,) = (api.fits(model, chip) for chip in ("stm32f103cb", "stm32f407vg"))
    assert soft.fits
    assert hard.fits
    assert soft.milliseconds is not None
    assert hard.milliseconds is not None
    assert soft.milliseconds > 10 * hard.milliseconds > 0


def test_a_broken_file_is_refused_though_a_chip_lacks_the_rounding_of_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "cut.tflite"
    path.write_bytes(model_path("kws_int8").read_bytes()[:5000])
    with pytest.raises(CompileError, match="LAM-IMPORT-003"):
        api.fits(path)


def test_options_of_a_compilation_are_taken(found: tuple[Fit, ...]) -> None:
    (rows,) = api.fits(DIGITS, "stm32f407vg", stream_input=True)
    whole = next(f for f in found if f.target == "stm32f407vg")
    assert rows.arena_bytes == compile_file(DIGITS, Options(target="stm32f407vg", stream_input=True)).plan.arena_bytes
    assert rows.flash_needed != whole.flash_needed, "the code of a stream is another"


def test_the_command_shows_the_same(lamina: Lamina) -> None:
    said = json.loads(lamina("targets", "rp2040", "--fits", TINY, "--json").out)
    (fit,) = api.fits(TINY, "rp2040")
    assert [entry["target"] for entry in said] == ["rp2040"]
    assert said[0]["arena_bytes"] == fit.arena_bytes
    text = lamina("targets", "rp2040", "--fits", TINY).out
    assert "fits 1 of 1; flash is weights" in text


def test_chips_of_one_kind_differ_by_name_memory_and_clock_alone() -> None:
    """What makes the list fast: the kinds are few."""
    bare = {
        replace(c, name="", description="", maker="", core="", clock=None, memories=(), board=None, toolchain=None)
        for c in map(load_target, BOUGHT)
    }
    assert len(bare) < len(CHIPS) / 3
