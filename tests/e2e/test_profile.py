"""lamina profile: exact, the same each time, confirmed by a second way of counting, and refused where it cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import codegen
from codegen.emit import write_project
from codegen.errors import FlashTooSmall, RunFailed, ToolMissing
from codegen.pipeline import Options, compile_file
from codegen.process import find_program
from codegen.report.profile import Profile, profile_text
from codegen.report.table import plain
from codegen.target import load_target
from codegen.verbs.profiling import mix_on_board, read_console
from tests.e2e.projects import DIGITS
from tests.support.chips import BOARDS
from tests.support.real import model_path
from tests.support.tools import require_tool
from tests.unit.cli.conftest import Lamina, lamina

__all__ = ["lamina"]

COUNTING = tuple(name for name in BOARDS if (board := load_target(name).board) and board.counting)
CHIPS = tuple(pytest.param(name, marks=pytest.mark.slow if name == "esp8266" else ()) for name in COUNTING)
KEYS = {
    *("model", "target", "requant", "macs", "instructions", "microseconds", "layers", "text_bytes", "rodata_bytes"),
    *("weights_bytes", "ram_bytes", "stack_bytes", "arena_bytes", "cycles", "mix"),
}
LAYER_KEYS = {"name", "operator", "macs", "instructions", "microseconds", "cycles", "calls"}


def ready(name: str) -> None:
    target = load_target(name)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])


def check(found: Profile) -> None:
    """What holds for every profile of an emulated chip."""
    assert found.instructions
    assert found.schedule_instructions is not None
    layers = sum(x.instructions or 0 for x in found.layers)
    assert abs(layers + found.schedule_instructions - found.instructions) <= 20 * len(found.layers)
    assert found.macs == sum(x.macs for x in found.layers)
    assert all((x.instructions or 0) > x.macs / 16 for x in found.layers)
    assert all(x.calls >= 1 for x in found.layers)
    assert all(x.standing is None or not x.standing.is_high or x.standing.reason for x in found.layers)
    assert found.rodata_bytes
    assert found.weights_bytes <= found.rodata_bytes < found.weights_bytes + 8000
    assert found.ram_bytes
    assert found.arena_bytes < found.ram_bytes < found.arena_bytes + 400
    assert found.text_bytes
    assert 500 < found.text_bytes < 60_000
    assert found.stack_bytes
    assert 64 <= found.stack_bytes <= 1024


@pytest.mark.one_in(8)
@pytest.mark.parametrize("chip", CHIPS)
def test_every_chip_counts_every_layer_and_alike_each_time(chip: str) -> None:
    ready(chip)
    first = codegen.profile(DIGITS, chip)
    check(first)
    assert first == codegen.profile(DIGITS, chip)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("chip", CHIPS)
def test_the_timer_and_the_emulators_own_count_agree(chip: str, tmp_path: Path) -> None:
    """Two ways that share nothing: a timer of the board read around each kernel, and a plugin that counts blocks."""
    ready(chip)
    found = codegen.profile(DIGITS, chip)
    compiled = compile_file(DIGITS, Options(target=chip, vectors=0))
    write_project(tmp_path / "project", compiled.files)
    assert compiled.target.toolchain
    mix = mix_on_board(compiled, tmp_path / "project", tmp_path, compiled.target.toolchain.opt_level)
    for layer, counted in zip(found.layers, mix[1:], strict=True):
        assert layer.instructions is not None
        assert abs(layer.instructions - counted.instructions) <= 16 * layer.calls, layer.name


def test_cycles_are_estimated_by_the_targets_table() -> None:
    ready("cortex-m4")
    plain_found, found = codegen.profile(DIGITS, "cortex-m4"), codegen.profile(DIGITS, "cortex-m4", cycles=True)
    assert plain_found.cycles is None
    assert found.instructions == plain_found.instructions
    assert found.cycles
    assert found.instructions < found.cycles < 3 * found.instructions
    assert found.cycles >= sum(x.cycles or 0 for x in found.layers)
    assert sum(found.mix.values()) == pytest.approx(1)
    assert found.cycles_source == load_target("cortex-m4").cycles.source  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_streamed_network_and_another_level_are_measured() -> None:
    ready("cortex-m4")
    whole = codegen.profile(DIGITS, "cortex-m4")
    streamed = codegen.profile(DIGITS, "cortex-m4", stream_input=True)
    small = codegen.profile(DIGITS, "cortex-m4", opt_level="-Os")
    check(streamed)
    assert streamed.macs == whole.macs == small.macs
    assert small.text_bytes
    assert whole.text_bytes
    assert small.text_bytes < whole.text_bytes
    assert "-Os" in small.flags


SMALL_FLASH = """
name = "small-flash"
description = "a Cortex-M4 that has no room for weights"
core = "cortex-m4"
[[memories]]
name = "ram"
kind = "ram"
bytes = 100000
source = "x"
[[memories]]
name = "flash"
kind = "flash"
bytes = 2000
source = "x"
"""


def test_weights_that_lie_outside_of_the_flash_are_measured_where_the_board_has_room(tmp_path: Path) -> None:
    ready("cortex-m4")
    chip = tmp_path / "chip.toml"
    chip.write_text(SMALL_FLASH)
    with pytest.raises(FlashTooSmall, match="put the weights into external flash with --weights blob"):
        codegen.profile(DIGITS, str(chip))
    found, usual = codegen.profile(DIGITS, str(chip), weights="blob"), codegen.profile(DIGITS, "cortex-m4")
    assert found.instructions == usual.instructions
    assert codegen.inspect(DIGITS, str(chip), weights="blob", measure_stack=True).stack is not None


def test_a_buffer_that_is_not_measured_is_spoken_of(lamina: Lamina) -> None:
    said = " ".join(lamina("profile", DIGITS, "--repeats", "1", "--weights-buffer", "4K", "--pin", "stem").out.split())
    assert "note: weights are measured in place: the buffer of 4096 B and its reads are left out" in said
    assert "note:" not in lamina("profile", DIGITS, "--repeats", "1").out


def test_the_host_is_timed(lamina: Lamina) -> None:
    ran = lamina("profile", DIGITS, "--repeats", "3", "--json")
    assert ran.code == 0
    assert set(ran.json) >= KEYS
    assert ran.json["instructions"] is None
    assert ran.json["microseconds"] > 0
    assert len(ran.json["layers"]) > 5
    assert all(set(x) >= LAYER_KEYS for x in ran.json["layers"])
    assert sum(x["microseconds"] for x in ran.json["layers"]) > 0


def test_the_command_prints_what_python_gives(lamina: Lamina) -> None:
    ready("cortex-m4")
    found = codegen.profile(DIGITS, "cortex-m4", cycles=True)
    ran = lamina("profile", DIGITS, "-t", "cortex-m4", "--cycles", "--json")
    assert ran.json == json.loads(json.dumps(plain(found)))
    assert set(ran.json) >= KEYS
    assert all(set(x) >= LAYER_KEYS for x in ran.json["layers"])
    text = lamina("profile", DIGITS, "-t", "cortex-m4", "--cycles", "--wide").out
    assert text.rstrip("\n") == profile_text(found)
    assert all(layer.name in text for layer in found.layers)
    for word in ("per MAC", "(schedule)", "(all)", "text", "rodata", "RAM", "stack", "about cycles", "mix"):
        assert word in text


@pytest.mark.parametrize(
    ("tools", "packages"),
    [((), "gcc-arm-none-eabi"), (("arm-none-eabi-gcc", "arm-none-eabi-size", "as", "ld"), "qemu-system-arm")],
)
def test_a_missing_tool_names_its_packages(
    tools: tuple[str, ...], packages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready("cortex-m4")
    for tool in tools:
        path = find_program(tool)
        if path is not None:
            os.symlink(path, tmp_path / tool)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=packages):
        codegen.profile(DIGITS, "cortex-m4")


@pytest.mark.parametrize(
    ("plain_said", "hooked_said"),
    [
        (b"", b""),
        (b"stack 64\ntotal 0 9\n", b"hook 8 0 80\n"),
        (b"stack 64\n", b"hook 8 0 80\nlayer 0 1 0 5\n"),
        (b"stack 64\ntotal 0 9\n", b"layer 0 1 0 5\n"),
    ],
)
def test_a_program_that_ends_early_is_seen(plain_said: bytes, hooked_said: bytes) -> None:
    with pytest.raises(RunFailed):
        read_console(plain_said, hooked_said)


def test_counts_have_64_bits_and_a_total_that_came_round_is_put_right() -> None:
    hooked = b"hook 8 0 80\r\nlayer 0 3 0 100\nlayer 1 2 2 7\n"
    read = read_console(b"stack 64\r\ntotal 0 40\n", hooked)
    assert (read.stack_bytes, read.hook) == (64, 10.0)
    assert read.layers == (((3, 100), (2, (2 << 32) + 7)),)
    assert read.totals == ((2 << 32) + 40,)


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", ["kws_qdq", "resnet8_qdq", "vww_qdq", "ad_qdq"])
def test_the_tiny_networks_on_every_chip(name: str, chip: str) -> None:
    ready(chip)
    cycles = load_target(chip).cycles is not None
    found = codegen.profile(model_path(name), chip, cycles=cycles)
    check(found)
    assert found == codegen.profile(model_path(name), chip, cycles=cycles)
