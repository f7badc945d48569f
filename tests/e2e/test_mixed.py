"""Mixed bits within a budget: what is returned compiles within it, and is no worse for a larger one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import api
from codegen.errors import CompileError
from codegen.process import find_program
from tests.support.float_models import float_model, images


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return float_model(tmp_path_factory.mktemp("float") / "small.onnx")


TARGET = "cortex-m4"
PACKING = "cortex-m55"
"""A chip that packs weights however few they are."""
SMALL = """name = "small"
description = "A Cortex-M4 with next to no memory"
core = "cortex-m4"

[[memories]]
name = "sram"
kind = "ram"
bytes = {bytes}
source = "made up"
"""


def arena_of(model: bytes) -> int:
    found = api.inspect(model, TARGET, goal="memory").arena_bytes
    assert found is not None
    return found


@pytest.fixture(scope="module")
def arenas(model: Path) -> tuple[int, int]:
    """With 8 bits everywhere, and with 16."""
    narrow, wide = (arena_of(api.quantize(model, images(20), activations=bits).model) for bits in (8, 16))
    return narrow, wide


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 20))])
def test_a_budget_of_memory_is_kept_to_the_byte(
    model: Path, arenas: tuple[int, int], tmp_path: Path, seed: int
) -> None:
    """Whatever the budget: the network compiles with it as a limit, or no network can."""
    budget = int(np.random.default_rng(seed).integers(int(0.9 * arenas[0]), int(1.1 * arenas[1])))
    words = {"activations": "mixed", "budget": {"arena": budget}, "target": TARGET}
    made = _quantized(model, words)
    if made is None:
        assert budget < min(arenas)
        return
    project = api.compile_model(made.model, TARGET, tmp_path / "c", arena_limit=budget)
    assert project.manifest["arena_bytes"] <= budget
    mixed = made.report.mixed
    assert mixed is not None
    assert mixed.chosen.arena_bytes == arena_of(made.model) <= budget
    bits = {t.layer: t.bits for t in made.report.tensors}
    assert {bits[layer.name] for layer in mixed.layers if layer.activations == 16 and layer.name in bits} <= {16}


def _quantized(model: Path, words: dict[str, object]) -> api.Quantized | None:
    """The network; None where there is none within the budget."""
    try:
        return api.quantize(model, images(20), **words)
    except CompileError as refused:
        if refused.code != "LAM-QUANT-028":
            raise
        return None


def test_all_that_fits_is_used_and_the_front_is_told(model: Path, arenas: tuple[int, int]) -> None:
    tight, free = (
        api.quantize(model, images(40), activations="mixed", recipe="fast", budget=f"arena={n}", target=TARGET).report
        for n in (arenas[0], 10**6)
    )
    assert tight.mixed is not None
    assert free.mixed is not None
    assert tight.quick_sqnr is not None
    assert free.quick_sqnr is not None
    assert free.quick_sqnr > tight.quick_sqnr - 1
    assert free.mixed.chosen.sqnr == max(p.sqnr for p in free.mixed.points if p.fits)
    expected = [p.expected for p in free.mixed.points]
    assert expected == sorted(expected)
    assert min(p.wide for p in free.mixed.points) == 0


def test_mixed_networks_are_verified_to_the_bit(model: Path, arenas: tuple[int, int]) -> None:
    made = api.quantize(model, images(20), weights="mixed", activations="mixed", budget={"arena": sum(arenas) // 2})
    assert api.verify(made.model, samples=2).equal
    assert made.report.refusal == ""


def test_the_chip_s_own_memory_is_a_limit(model: Path, arenas: tuple[int, int], tmp_path: Path) -> None:
    chip = tmp_path / "small.toml"
    chip.write_text(SMALL.format(bytes=arenas[0] // 2))
    with pytest.raises(CompileError, match="LAM-QUANT-028"):
        api.quantize(model, images(20), activations="mixed", target=str(chip))


@pytest.mark.parametrize("budget", ["arena", "ram=3K", "arena=lots", "flash=-1", {"arena": 0}])
def test_what_is_no_budget_is_refused(model: Path, budget: object) -> None:
    with pytest.raises(CompileError, match="write flash=512K"):
        api.quantize(model, images(8), budget=budget)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.skipif(not find_program("qemu-system-arm") or not find_program("arm-none-eabi-gcc"), reason="no emulator")
def test_instructions_are_counted_on_the_board(model: Path) -> None:
    words = {"activations": "mixed", "target": "cortex-m4"}
    narrow = api.quantize(model, images(20), target="cortex-m4").model
    counted = api.profile(narrow, "cortex-m4", goal="memory").instructions
    assert counted is not None
    most = counted + counted // 1000  # numbers decide how long a Softmax takes, and candidates are not yet corrected
    found = api.quantize(model, images(20), budget={"instructions": most}, **words).report.mixed
    assert found is not None
    assert found.chosen.instructions is not None
    assert found.chosen.instructions <= most
    assert found.limits["instructions"] == most


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"budget": "arena=9K", "activations": 8}, "nothing is mixed"),
        ({"budget": "arena=9K,arena=8K"}, "arena twice"),
        ({"budget": "instructions=1", "target": "host"}, "not counted on host"),
    ],
)
def test_a_budget_that_nothing_would_keep_is_refused(model: Path, words: dict[str, Any], said: str) -> None:
    with pytest.raises(CompileError, match="LAM-IMPORT-030") as refused:
        api.quantize(model, images(8), **words)
    assert said in str(refused.value)


def test_layers_at_the_ends_keep_eight_bits_where_that_is_said(model: Path, tmp_path: Path) -> None:
    """Otherwise they are mixed as all are."""
    config = tmp_path / "q.toml"
    config.write_text("[quantize.mixed]\nfirst = 1\nlast = 1\n")
    narrow = api.quantize(model, images(20), recipe="fast").model
    eight = api.compile_model(narrow, PACKING, tmp_path / "c").manifest["weights_bytes"]
    words = {"weights": "mixed", "recipe": "fast", "target": PACKING, "budget": {"flash": eight - 1}}
    mixed = api.quantize(model, images(20), config=config, **words).report.mixed
    assert mixed is not None
    few = [layer.weights < 8 for layer in mixed.layers if layer.weights]
    assert any(few)
    assert not few[0]
    assert not few[-1]


def test_the_front_of_weights_runs_along_flash(model: Path) -> None:
    """From few bits wherever they save a byte to eight everywhere; points of as much flash differ in memory."""
    mixed = api.quantize(model, images(20), weights="mixed", recipe="fast", target=PACKING).report.mixed
    assert mixed is not None
    flash = [p.flash_bytes or 0 for p in mixed.points]
    assert min(flash) > 0, "the compiler took each"
    assert flash == sorted(flash)
    assert len({(p.flash_bytes, p.arena_bytes) for p in mixed.points}) == len(flash)
    narrow = [p.narrow for p in mixed.points]
    assert len(narrow) > 2
    assert narrow[0] == max(narrow)
    assert narrow[-1] == 0
    assert mixed.chosen.sqnr == max(p.sqnr for p in mixed.points if p.fits)
