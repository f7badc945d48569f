"""The shipped chips: what each says of itself, and where it has that from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support.chips import BOUGHT, CHIPS, REFERENCE
from tests.unit.cli.conftest import Lamina, lamina

__all__ = ["lamina"]

KINDS = ("chips", "cores", "accelerators")
FILES = sorted(p for kind in KINDS for p in (resource_dir("targets") / kind).rglob("*.toml"))
LEAST = 12
"""Letters of a source: the name of a document and a place in it."""
FAMILIES = (
    "stm32f0",
    "stm32f1",
    "stm32f2",
    "stm32f3",
    "stm32f4",
    "stm32f7",
    "stm32g0",
    "stm32g4",
    "stm32h5",
    "stm32h7",
    "stm32l0",
    "stm32l1",
    "stm32l4",
    "stm32l5",
    "stm32u5",
    "stm32n6",
    "stm32wb",
    "nrf52",
    "nrf53",
    "nrf54",
    "nrf91",
    "rp2040",
    "rp2350",
    "rp2350-riscv",
    "esp32",
    "esp32s3",
    "esp32c3",
    "esp32c6",
    "esp32p4",
    "mimxrt",
    "samd",
    "efr32",
    "apollo",
    "alif",
    "gd32v",
    "ch32v",
    "k210",
    "gap8",
    "gap9",
    "max78000",
)


def tables(value: object, place: str = "") -> Iterator[tuple[str, dict[str, object]]]:
    """Every table of a file, with its place."""
    if isinstance(value, dict):
        yield place or "the file", value
        for key, item in value.items():
            yield from tables(item, f"{place}.{key}".strip("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from tables(item, f"{place}[{index}]")


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_no_number_stands_without_its_source(path: Path) -> None:
    for place, table in tables(tomllib.loads(path.read_text(encoding="utf-8"))):
        numbers = [k for k, v in table.items() if isinstance(v, int | float) and not isinstance(v, bool)]
        if (
            numbers and place not in _OF_OURS and not place.startswith("speed.kernels[")
        ):  # [speed] says how it was counted
            assert len(str(table.get("source", ""))) >= LEAST, f"{path.name}, {place}: {numbers}"


_OF_OURS = ("the file", "weights")
"""Tables whose numbers say how this compiler treats the chip, not what the chip is: arena_align, buffer_bytes."""


def test_at_least_sixty_chips_are_parts_that_one_can_buy() -> None:
    assert len([name for name in BOUGHT if CHIPS[name].clock]) >= 60
    assert all(any(name.startswith(family) for name in BOUGHT) for family in FAMILIES)


@pytest.mark.parametrize("name", BOUGHT)
def test_a_part_that_one_can_buy_says_what_it_is(name: str) -> None:
    chip = CHIPS[name]
    assert chip.core
    assert all(m.source for m in chip.memories if m.bytes is not None)
    assert [m for m in chip.memories if m.kind == "flash"]
    places = sorted(
        (m.address, m.address + m.bytes, m.name) for m in chip.memories if m.address is not None and m.bytes
    )
    if chip.isa != "avr":  # flash and RAM are spaces of their own
        assert all(a[1] <= b[0] for a, b in pairwise(places)), places


@pytest.mark.parametrize("name", BOUGHT)
def test_a_chip_has_the_flags_of_its_core_and_no_other(name: str) -> None:
    """Of the compiler's flags only the model of an AVR is the chip's own."""
    chip = CHIPS[name]
    core = tomllib.loads((resource_dir("targets") / "cores" / f"{chip.core}.toml").read_text(encoding="utf-8"))
    assert chip.isa == core["isa"]
    if chip.toolchain and chip.isa != "avr":
        assert list(chip.toolchain.cflags) == core["toolchain"]["cflags"]


def test_known_sizes_are_those_of_the_datasheets() -> None:
    """Some that everybody knows, by another hand."""
    known = {"stm32f407vg": (128, 1024, 168), "rp2040": (264, 2048, 133), "nrf52840": (256, 1024, 64)}
    for name, (ram, flash, mhz) in known.items():
        chip = load_target(name)
        assert chip.clock is not None
        assert (chip.ram_bytes, chip.flash_bytes, chip.clock.hz) == (ram << 10, flash << 10, mhz * 1_000_000)


def test_the_list_is_grouped_by_maker_and_has_every_chip_once(lamina: Lamina) -> None:
    lines = lamina("targets").out.split("\n")
    groups = [line for line in lines if line.endswith(":")]
    assert groups[0].startswith("this machine")
    assert groups[1:] == sorted(groups[1:], key=str.lower)
    assert len(groups) == 1 + len({CHIPS[name].maker for name in BOUGHT})
    first = [line.split()[0] for line in lines if line and not line.endswith(":")]
    assert sorted(name for name in first if name in CHIPS) == sorted(CHIPS)
    assert lines.index("STMicroelectronics:") + 1 == next(i for i, w in enumerate(lines) if w.startswith("stm32f030r8"))


def test_one_chip_is_explained_with_every_source(lamina: Lamina) -> None:
    text = lamina("targets", "stm32f407vg").out
    chip = CHIPS["stm32f407vg"]
    assert chip.clock is not None
    flowing = " ".join(text.split())
    assert all(f"[{source}]" in flowing for source in (chip.clock.source, *(m.source for m in chip.memories)))
    assert re.search(r"ram ccm +64 KiB at 0x10000000 ", text)
    assert re.search(r"clock +168 MHz ", text)
    assert re.search(r"core +cortex-m4\n", text)


def test_reference_targets_are_no_parts_of_a_maker() -> None:
    assert {"host", "generic", "cortex-m4", "gap8-like", "avr"} <= set(REFERENCE)
