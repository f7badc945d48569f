"""docs/operators_on_chips.md says which kernels run on which chip, as compiling finds it."""

from __future__ import annotations

from itertools import islice

import pytest

from codegen.errors import CompileError
from codegen.ops import OPS
from codegen.pipeline import Options, compile_graph
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support import chip_page
from tests.support.chip_page import BLOCKS, OWN, PLAIN, Row, rows, running
from tests.support.chips import CHIPS

_SETS = ("dsp", "mve", "rvv", "lanes", "x86")
"""Folders of runtime_c/isa with what kernels for an instruction set call."""
_COMPILED = 6
_HASH = bytes(32)


def test_the_page_is_what_the_kernels_say() -> None:
    assert chip_page.PAGE.read_text(encoding="utf-8") == chip_page.page(), "run `make docs`"


def test_every_operator_has_a_row() -> None:
    assert {name for name, _ in rows()} == {op.__name__ for op in OPS}


@pytest.mark.parametrize(
    ("row", "chip", "words"),
    [
        (("MaxPool2D", "int8"), "cortex-m55", OWN),
        (("MaxPool2D", "int8"), "cortex-m4", PLAIN),
        (("Clamp", "int8"), "cortex-m55", OWN),
        (("GlobalAveragePool", "int8"), "cortex-m55", OWN),
        (("FloatDense", "float32 s8"), "cortex-m3", PLAIN),
        (("Conv2D", "int16"), "host", PLAIN),
        (("Conv2D", "int16"), "avr", "`LAM-TARGET-008`"),
        (("FloatSoftmax", "float32"), "avr", "`LAM-TARGET-008`"),
        (("AddN", "int8"), "avr", "`LAM-LOWER-001`"),
        (("ConvTranspose2D", "int16"), "rdk-x3", "`LAM-TARGET-020`"),
    ],
)
def test_a_cell_is_what_compiling_gives(row: Row, chip: str, words: str) -> None:
    assert running(row, CHIPS[chip]) == words
    assert compiled(row, chip) == {words}


@pytest.mark.parametrize("chip", ["cortex-m4", "cortex-m55", "rv64gcv", "host", "aarch64"])
def test_convolutions_have_kernels_of_the_instruction_set(chip: str) -> None:
    row = ("Conv2D", "int8")
    assert OWN in running(row, CHIPS[chip]).split(", ")
    assert OWN in compiled(row, chip)


@pytest.mark.parametrize("chip", ["cortex-m0plus", "cortex-m3", "rv32imc", "generic"])
def test_others_have_blocks(chip: str) -> None:
    row = ("Conv2D", "int8")
    assert {BLOCKS} <= set(running(row, CHIPS[chip]).split(", ")) <= {BLOCKS, PLAIN}
    assert compiled(row, chip) == {PLAIN}


def compiled(row: Row, chip: str) -> set[str]:
    """What the projects of some cases have: code of an instruction set, none, or the first id in their place."""
    found = set()
    for graph in islice(rows()[row], _COMPILED):
        try:
            made = compile_graph(graph, load_target(chip), Options(target=chip), _HASH)
        except CompileError as error:
            found.add(f"`{error.problems()[0].code}`")
        else:
            found.add(OWN if special() & {name.rpartition("/")[2] for name in made.files} else PLAIN)
    return found


def special() -> set[str]:
    """Headers with what kernels for an instruction set call."""
    return {path.name for folder in _SETS for path in (resource_dir("runtime_c") / "isa" / folder).glob("*.h")}
